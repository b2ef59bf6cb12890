"""What differs between hosts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackfix.host.compare import HostComparison, compare
from stackfix.host.host import (
    UNLIMITED,
    CardLink,
    Fabric,
    FabricState,
    Host,
    KernelLog,
    PciRoute,
    XidReport,
)
from tests.resolver.host.test_document import HOST


def beside(*others: Host) -> HostComparison:
    hosts = enumerate((HOST, *others))
    return compare([(f"{'abc'[number]}.json", host) for number, host in hosts])


def differing(comparison: HostComparison) -> list[str]:
    return [difference.what for difference in comparison.differences]


def test_equal_hosts_differ_in_nothing() -> None:
    found = beside(HOST, HOST)
    assert (found.same, found.differences, found.untold) == (True, (), ())
    assert found.names == ("a.json", "b.json", "c.json")


def test_identity_of_a_card_and_its_place_do_not_make_it_another() -> None:
    cards = tuple(replace(card, uuid="GPU-x", pci="0000:81:00.0") for card in HOST.cards)
    assert beside(replace(HOST, cards=cards)).differences == ()


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (replace(HOST, driver="560.35.03"), "driver"),
        (replace(HOST, driver=None), "driver"),
        (replace(HOST, cards=HOST.cards[1:]), "cards"),
        (replace(HOST, system=replace(HOST.system, platform="linux_aarch64")), "platform"),
    ],
)
def test_another_driver_card_or_platform_decides(other: Host, what: str) -> None:
    found = beside(other)
    assert not found.same
    assert what in [one.what for one in found.differences if one.decides]


def test_a_fabric_that_is_not_set_up_decides() -> None:
    waiting = replace(HOST.cards[0], fabric=Fabric(state=FabricState.NOT_STARTED))
    found = beside(replace(HOST, cards=(waiting, HOST.cards[1])))
    assert not found.same
    (difference,) = found.differences
    assert (difference.what, difference.values) == ("fabric", ("ready", "not started"))


def test_memory_links_and_xids_are_told_and_do_not_decide() -> None:
    sound = replace(HOST.cards[0], ecc_errors=0, repairs=None)
    report = XidReport(number=79, pci="0000:65:00")
    found = beside(
        replace(
            HOST,
            cards=(sound, HOST.cards[1]),
            links=(CardLink(one=0, other=1, route=PciRoute.SYS),),
            kernel_log=KernelLog(source="/dev/kmsg", reports=(report,)),
        )
    )
    assert found.same
    assert [(one.what, one.values) for one in found.differences] == [
        ("memory of the cards", ("bad on 0", "sound")),
        ("links between the cards", ("1 × NV18", "1 × SYS")),
        ("Xids", ("none", "Xid 79")),
    ]


def test_a_kernel_log_that_was_not_readable_tells_of_no_xid() -> None:
    unread = KernelLog(source=None, unread="not readable (needs root)")
    found = beside(replace(HOST, kernel_log=unread))
    assert (found.differences, found.untold) == ((), ("Xids",))


def test_other_limits_are_told_and_do_not_decide() -> None:
    found = beside(replace(HOST, system=replace(HOST.system, shm=1024, memory_limit=UNLIMITED)))
    assert found.same
    assert differing(found) == ["/dev/shm", "memory limit"]
    assert found.differences[0].values == ("67,108,864 bytes", "1,024 bytes")
    assert found.differences[1].values == ("8,589,934,592 bytes", "unlimited")


def test_what_a_host_does_not_tell_is_no_difference() -> None:
    found = beside(replace(HOST, system=replace(HOST.system, kernel="6.8.0", memlock=None)))
    assert found.differences == ()
    assert found.untold == ("memlock", "kernel")


def test_cards_that_reach_each_other_in_one_host_alone_differ() -> None:
    def with_peers(first: tuple[int, ...], second: tuple[int, ...]) -> Host:
        one, two = HOST.cards
        return replace(HOST, cards=(replace(one, peers=first), replace(two, peers=second)))

    (difference,) = compare([("a", with_peers((1,), (0,))), ("b", with_peers((), ()))]).differences
    assert difference.what == "peer-to-peer"
    assert difference.values == ("between all cards", "between no cards")
