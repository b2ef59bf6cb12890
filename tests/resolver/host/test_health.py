"""What is wrong with a machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackfix.host.health import fabric_trouble, remarks, troubles
from stackfix.host.host import (
    Card,
    CardLink,
    CardSource,
    Fabric,
    FabricState,
    Host,
    Iommu,
    KernelLog,
    MemoryRepairs,
    NvLinks,
    PeerAccess,
    RepairUnit,
    System,
    XidReport,
)
from stackfix_knowledge.evidence import FactSeverity

H100 = "NVIDIA H100 80GB HBM3"
READY = Fabric(state=FabricState.COMPLETED)


def card(index: int = 0, **more: object) -> Card:
    return replace(Card(index=index, name=H100, capability="9.0"), **more)  # type: ignore[arg-type]


def machine(*cards: Card, **system: object) -> Host:
    around = replace(
        System(platform="linux_x86_64", python="3.11.7"),
        **system,  # type: ignore[arg-type]
    )
    return Host(source=CardSource.NVML, cards=cards or (card(), card(1)), system=around)


def told(host: Host) -> list[str]:
    return [f"{one.severity}: {one.text}" for one in troubles(host)]


def test_a_sound_machine_has_none() -> None:
    fabric = machine(
        card(fabric=READY, nvlinks=NvLinks(active=18, inactive=0, switched=True), ecc_errors=0),
        nvswitches=4,
        fabric_manager=True,
        iommu=Iommu.PASSTHROUGH,
    )
    assert troubles(fabric) == ()
    assert troubles(machine()) == ()


@pytest.mark.parametrize(
    ("fabric", "words"),
    [
        (Fabric(state=FabricState.NOT_STARTED), "is not started"),
        (Fabric(state=FabricState.IN_PROGRESS), "is in progress"),
        (Fabric(state=FabricState.COMPLETED, fault="Unknown Error"), "failed (Unknown Error)"),
    ],
)
def test_a_fabric_that_is_not_set_up_leads_to_error_802(fabric: Fabric, words: str) -> None:
    host = machine(card(fabric=fabric), card(1, fabric=READY), nvswitches=4, fabric_manager=False)
    (found,) = troubles(host)
    assert found.text == (
        f"the fabric of card 0 {words}; the Fabric Manager does not run: CUDA fails with error 802"
    )
    assert found.severity is FactSeverity.ERROR
    assert found.action is not None
    assert "exactly the driver's version" in found.action
    assert fabric_trouble(host) == found


def test_a_fabric_manager_of_another_version_than_the_drivers_is_why() -> None:
    host = machine(
        card(fabric=Fabric(state=FabricState.NOT_STARTED)),
        nvswitches=4,
        fabric_manager=False,
        fabric_manager_version="570.124.06",
    )
    assert "; the Fabric Manager is 570.124.06, the driver 570.133.20: CUDA" in (
        troubles(replace(host, driver="570.133.20"))[0].text
    )
    assert "Manager is" not in troubles(replace(host, driver="570.124.06"))[0].text
    assert "Manager is" not in troubles(host)[0].text


@pytest.mark.parametrize(
    "host",
    [
        machine(nvswitches=6, fabric_manager=False),
        machine(card(nvlinks=NvLinks(active=18, inactive=0, switched=True)), fabric_manager=False),
    ],
)
def test_switches_without_a_fabric_manager_are_an_error_where_cards_tell_no_fabric(
    host: Host,
) -> None:
    """A100 cards know no fabric state."""
    (found,) = troubles(host)
    assert found.text.startswith("the cards hang on NVSwitches and the Fabric Manager does not run")


@pytest.mark.parametrize(
    "host",
    [
        machine(nvswitches=6, fabric_manager=None),  # in a container
        machine(nvswitches=0, fabric_manager=False),
        machine(card(fabric=READY), nvswitches=4, fabric_manager=False),  # it ran before
    ],
)
def test_what_is_not_known_to_be_wrong_is_not_said(host: Host) -> None:
    assert troubles(host) == ()


def test_what_the_driver_finds_wrong_with_a_fabric_is_told() -> None:
    fabric = Fabric(state=FabricState.COMPLETED, troubles=("degraded bandwidth",))
    assert told(machine(card(fabric=fabric))) == [
        "warning: the fabric of card 0: degraded bandwidth"
    ]


@pytest.mark.parametrize(
    ("more", "severity", "words"),
    [
        ({"ecc_errors": 3}, "error", "could not correct 3 memory errors"),
        ({"ecc_errors": 0, "ecc_corrected": 900}, None, ""),
        (
            {
                "repairs": MemoryRepairs(
                    unit=RepairUnit.ROWS, corrected=0, uncorrected=1, pending=True
                )
            },
            "warning",
            "is in use until the next reset",
        ),
        (
            {
                "repairs": MemoryRepairs(
                    unit=RepairUnit.ROWS, corrected=0, uncorrected=9, failed=True
                )
            },
            "error",
            "bad memory that could not be remapped",
        ),
        ({"repairs": MemoryRepairs(unit=RepairUnit.PAGES, corrected=2, uncorrected=1)}, None, ""),
    ],
)
def test_memory(more: dict[str, object], severity: str | None, words: str) -> None:
    found = told(machine(card(**more)))
    assert len(found) == (severity is not None)
    if severity is not None:
        assert found[0].startswith(f"{severity}: ")
        assert "card 0" in found[0]
        assert words in found[0]


def test_cards_that_wait_for_the_same_are_named_together() -> None:
    pending = MemoryRepairs(unit=RepairUnit.ROWS, corrected=1, uncorrected=0, pending=True)
    host = machine(card(repairs=pending), card(1), card(2, repairs=pending))
    assert told(host) == ["warning: bad memory of cards 0, 2 is in use until the next reset"]


def test_a_card_with_fewer_links_up_than_its_like_is_named() -> None:
    links = [NvLinks(active=active, inactive=0, switched=True) for active in (18, 17)]
    host = machine(card(nvlinks=links[0], fabric=READY), card(1, nvlinks=links[1]))
    assert told(host) == ["warning: card 1 has 17 of 18 NVLinks up"]


def test_links_that_no_card_uses_are_the_boards_own() -> None:
    links = NvLinks(active=4, inactive=8, switched=False)
    assert troubles(machine(card(nvlinks=links), card(1, nvlinks=links))) == ()


def test_access_that_a_setting_forbids_is_named_once() -> None:
    links = tuple(CardLink(one=0, other=n, access=PeerAccess.REGISTRY) for n in (1, 2))
    (found,) = troubles(replace(machine(), links=links))
    assert "cards 0 and 1" in found.text


def with_xid(number: int, **more: object) -> Host:
    report = XidReport(number=number, pci="0000:65:00", text="words", **more)  # type: ignore[arg-type]
    return replace(machine(), kernel_log=KernelLog(source="/dev/kmsg", reports=(report,)))


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (
            with_xid(79, card=1, ago=7300),
            "error: Xid 79 on card 1, 2 hours ago: GPU has fallen off the bus: The driver",
        ),
        (with_xid(94, count=3), "warning: Xid 94 on 0000:65:00 3 times: contained memory error"),
        (with_xid(999), "warning: Xid 999 on 0000:65:00: not known: words"),
        (
            with_xid(20034, switch=True),
            "warning: SXid 20034 of the NVSwitch 0000:65:00: words",
        ),
    ],
)
def test_an_xid_is_explained_by_the_table(host: Host, expected: str) -> None:
    (found,) = told(host)
    assert found.startswith(expected)


@pytest.mark.parametrize("number", [13, 31, 43, 45, 63, 121])
def test_a_programs_fault_and_a_repair_that_worked_are_no_trouble_of_the_machine(
    number: int,
) -> None:
    assert troubles(with_xid(number, card=0)) == ()


def test_an_xid_of_last_month_is_history() -> None:
    assert troubles(with_xid(79, card=1, ago=30 * 86400)) == ()


def test_a_switchs_number_is_not_a_cards() -> None:
    """20034 is no Xid; and an SXid 79 would say nothing of the bus."""
    assert "bus" not in told(with_xid(79, switch=True))[0]


def test_errors_come_first() -> None:
    host = machine(card(ecc_errors=1), iommu=Iommu.TRANSLATED)
    assert [one.severity for one in troubles(host)] == [FactSeverity.ERROR, FactSeverity.WARNING]


def test_a_plan_is_told_what_no_pins_help_against() -> None:
    host = machine(card(ecc_errors=1), iommu=Iommu.TRANSLATED)
    assert remarks(replace(host, notes=("a note",))) == (
        "a note",
        "card 0 could not correct 1 memory error",
    )
