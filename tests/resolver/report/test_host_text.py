"""A host as a person reads it."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from stackfix.host.host import Host
from stackfix.report.host_text import show_host
from tests.resolver.host.test_document import HOST


def shown(host: Host) -> str:
    file = io.StringIO()
    show_host(Console(file=file, width=120, markup=False, highlight=False), host)
    return " ".join(file.getvalue().split())


def test_cards_driver_and_surroundings_are_shown() -> None:
    text = shown(HOST)
    assert "2 cards, driver 570.133.07 (CUDA 12.8)" in text
    assert "0 NVIDIA GeForce RTX 5090 12.0 32 GiB" in text
    assert "hidden by CUDA_VISIBLE_DEVICES" in text
    assert "! a note" in text


def test_memory_errors_stand_beside_their_card() -> None:
    assert "32 GiB 2 uncorrected memory errors" in shown(HOST)
    assert "uncorrected" not in shown(replace(HOST, cards=HOST.cards[1:]))


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
    assert "ptxas /usr/local/cuda/bin/ptxas" in text


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
