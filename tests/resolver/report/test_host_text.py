"""A host as a person reads it."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from stackfix.host.host import CardLink, Host, KernelLog, PciRoute, PeerAccess
from stackfix.report.host import host_text
from stackfix.report.text import show
from tests.resolver.host.test_document import HOST


def shown(host: Host) -> str:
    file = io.StringIO()
    show(Console(file=file, width=120, markup=False, highlight=False), host_text(host))
    return " ".join(file.getvalue().split())


def test_cards_driver_and_surroundings_are_shown() -> None:
    text = shown(HOST)
    assert "2 cards, driver 570.133.07 (CUDA 12.8)" in text
    assert "0 NVIDIA GeForce RTX 5090 12.0 32 GiB" in text
    assert "hidden by CUDA_VISIBLE_DEVICES" in text
    assert "! a note" in text


def test_memory_errors_stand_beside_their_card() -> None:
    text = shown(HOST)
    assert "32 GiB 2 uncorrected memory errors, 7 corrected" in text
    assert "1 memory row out of use" in text
    assert "uncorrected" not in shown(replace(HOST, cards=HOST.cards[1:]))


def test_what_is_wrong_stands_with_what_to_do() -> None:
    text = shown(HOST)
    assert "✗ card 0 could not correct 2 memory errors" in text
    assert "reset the card or restart the machine" in text


def test_links_that_are_all_alike_take_one_line() -> None:
    assert "between the cards NV18" in shown(HOST)
    assert "4 NVSwitches, fabric completed, Fabric Manager runs" in shown(HOST)


def test_links_that_differ_are_a_table_as_nvidia_smi_draws_it() -> None:
    cards = tuple(replace(HOST.cards[0], index=index) for index in range(3))
    links = (
        CardLink(one=0, other=1, route=PciRoute.PIX, nvlinks=4, access=PeerAccess.OK),
        CardLink(one=0, other=2, route=PciRoute.SYS, nvlinks=0, access=PeerAccess.CHIPSET),
        CardLink(one=1, other=2),
    )
    text = shown(replace(HOST, cards=cards, links=links))
    assert "0 1 2 0 - NV4 SYS! 1 NV4 - ? 2 SYS! ? - (!: without direct access)" in text
    assert "without direct access" not in shown(HOST)


def test_links_of_which_nothing_is_known_are_not_shown() -> None:
    assert "between" not in shown(replace(HOST, links=(CardLink(one=0, other=1),)))


def test_a_kernel_log_that_could_not_be_read_says_why() -> None:
    log = KernelLog(source=None, unread="not readable (needs root)")
    assert "kernel log: not readable (needs root)" in shown(replace(HOST, kernel_log=log))
    assert "kernel log" not in shown(replace(HOST, kernel_log=log, cards=()))


def test_small_shared_memory_is_pointed_out_where_there_are_cards() -> None:
    assert "/dev/shm 64 MiB (small" in shown(HOST)
    assert "(small" not in shown(replace(HOST, cards=()))


def test_a_machine_without_a_card_says_so() -> None:
    assert shown(replace(HOST, cards=(), driver=None)).startswith("no NVIDIA card linux_x86_64")


def test_what_surrounds_the_cards_is_shown() -> None:
    text = shown(HOST)
    assert "2 NUMA nodes, IOMMU translated, memory limit 8.0 GiB, memlock unlimited" in text
    assert "network eth0 (default), eth1" in text
    assert "! the IOMMU translates the cards' transfers" in text
    assert "cudnn 9.5.1 /opt/lib/libcudnn.so.9 (LD_LIBRARY_PATH)" in text
    assert "ptxas 12.8.93 /usr/local/cuda/bin/ptxas" in text


def test_cards_on_several_numa_nodes_are_shown_by_node() -> None:
    cards = tuple(replace(card, numa=index) for index, card in enumerate(HOST.cards))
    assert "NUMA node 0: card 0; NUMA node 1: card 1" in shown(replace(HOST, cards=cards))
    assert "NUMA node 0" not in shown(HOST)


def test_cards_that_cannot_reach_each_other_are_named() -> None:
    first, second = HOST.cards
    cards = (
        replace(first, peers=(1,)),
        replace(second, peers=(0, 2)),
        replace(second, index=2, peers=(1,)),
    )
    assert "peer-to-peer not between 0-2" in shown(replace(HOST, cards=cards))
    assert "not between" not in shown(replace(HOST, cards=cards[:1]))
