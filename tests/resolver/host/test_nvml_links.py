"""What lies between cards, and the fabric, as the real nvidia-ml-py reads them from a stand-in."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.host.host import CardLink, Fabric, FabricState, NvLinks, PciRoute, PeerAccess
from stackfix.host.nvml import NvmlAnswer, ask
from tests.resolver.host.stub import H100, RTX_5090, build_stub, stub_env


def answer(stub: Path, *cards: str, **settings: str) -> NvmlAnswer:
    found = ask(env=stub_env(stub, *(cards or (H100(1), H100(2))), **settings))
    assert found.notes == ()
    return found


def test_a_pair_without_nvlink_goes_over_pcie(nvml_stub: Path) -> None:
    found = answer(nvml_stub, RTX_5090(1), RTX_5090(2), STUB_ROUTES="0-1=30", STUB_NO_P2P="0-1")
    assert found.links == (
        CardLink(
            one=0, other=1, route=PciRoute.PHB, nvlinks=0, access=PeerAccess.CARD, atomics=False
        ),
    )
    assert found.cards[0].nvlinks is None


@pytest.mark.parametrize(
    ("level", "route"),
    [
        ("0", PciRoute.BOARD),
        ("10", PciRoute.PIX),
        ("20", PciRoute.PXB),
        ("40", PciRoute.NODE),
        ("50", PciRoute.SYS),
        ("60", None),  # a level that only a later driver knows
    ],
)
def test_every_level_of_the_topology_has_its_name(
    nvml_stub: Path, level: str, route: PciRoute | None
) -> None:
    assert answer(nvml_stub, STUB_ROUTES=f"0-1={level}").links[0].route is route


@pytest.mark.parametrize(
    ("status", "access"),
    [
        ("0", PeerAccess.OK),
        ("1", PeerAccess.CHIPSET),
        ("3", PeerAccess.TOPOLOGY),
        ("4", PeerAccess.REGISTRY),
        ("5", PeerAccess.NOT_SUPPORTED),
        ("6", None),
        ("77", None),
    ],
)
def test_why_two_cards_do_not_reach_each_other(
    nvml_stub: Path, status: str, access: PeerAccess | None
) -> None:
    (link,) = answer(nvml_stub, STUB_NO_P2P="0-1", STUB_P2P=status).links
    assert link.access is access


def test_direct_links_are_counted_by_their_far_end(nvml_stub: Path) -> None:
    cards = (H100(1), H100(2), H100(3))
    found = answer(nvml_stub, *cards, STUB_NVLINKS="0-1:4,1-2:2")
    assert [(link.one, link.other, link.nvlinks) for link in found.links] == [
        (0, 1, 4),
        (0, 2, 0),
        (1, 2, 2),
    ]
    assert [card.nvlinks and card.nvlinks.active for card in found.cards] == [4, 6, 2]
    assert found.cards[0].nvlinks == NvLinks(active=4, inactive=0, switched=False)


def test_links_through_switches_join_every_pair(nvml_stub: Path) -> None:
    found = answer(nvml_stub, STUB_NVLINKS="0-s:18,1-s:17,1-x:1")
    assert found.links[0].nvlinks == 17
    assert found.cards[0].nvlinks == NvLinks(active=18, inactive=0, switched=True)
    assert found.cards[1].nvlinks == NvLinks(active=17, inactive=1, switched=True)


def test_the_fabric_of_a_card(nvml_stub: Path) -> None:
    assert answer(nvml_stub).cards[0].fabric is None
    assert answer(nvml_stub, STUB_FABRIC="0 0 0").cards[0].fabric is None  # not supported
    waiting = answer(nvml_stub, STUB_FABRIC="1 0 0").cards[0].fabric
    assert waiting == Fabric(state=FabricState.NOT_STARTED)
    assert not waiting.ready
    ready = answer(nvml_stub, STUB_FABRIC="3 0 0").cards[0].fabric
    assert ready == Fabric(state=FabricState.COMPLETED)
    assert ready.ready


def test_a_registration_that_failed_says_why(nvml_stub: Path) -> None:
    fabric = answer(nvml_stub, STUB_FABRIC="3 999 0").cards[0].fabric
    assert fabric is not None
    assert (fabric.state, fabric.fault, fabric.ready) == (
        FabricState.COMPLETED,
        "Unknown Error",
        False,
    )


@pytest.mark.parametrize(
    ("mask", "troubles"),
    [
        (0b10, ()),  # no degraded bandwidth
        (0b01, ("degraded bandwidth",)),
        (0b01 << 4, ("unhealthy route",)),
        (0b01 << 2 | 0b01 << 6, ("route recovery under way", "recovery from an access timeout")),
        (4 << 8, ("no partition",)),
        (1 << 8, ()),
    ],
)
def test_the_health_mask_in_words(nvml_stub: Path, mask: int, troubles: tuple[str, ...]) -> None:
    fabric = answer(nvml_stub, STUB_FABRIC=f"3 0 {mask}").cards[0].fabric
    assert fabric is not None
    assert fabric.troubles == troubles


NEW = [
    "nvmlDeviceGetTopologyCommonAncestor",
    "nvmlDeviceGetP2PStatus",
    "nvmlDeviceGetNvLinkState",
    "nvmlDeviceGetNvLinkRemoteDeviceType",
    "nvmlDeviceGetNvLinkRemotePciInfo_v2",
    "nvmlDeviceGetGpuFabricInfoV",
    "nvmlDeviceGetGpuFabricInfo",
]
FULL = {
    "STUB_ROUTES": "0-1=10",
    "STUB_NVLINKS": "0-s:18,1-s:18",
    "STUB_FABRIC": "3 0 0",
    "STUB_ECC": "0",
    "STUB_ROWS": "0 0 0 0",
}


def test_a_driver_that_lacks_all_of_it_tells_of_its_cards(tmp_path: Path) -> None:
    found = answer(build_stub(tmp_path, without=NEW), **FULL)
    assert found.links == (CardLink(one=0, other=1),)
    assert (found.cards[0].peers, found.cards[0].nvlinks, found.cards[0].fabric) == (None,) * 3


def test_an_older_driver_tells_the_fabric_in_the_older_form(tmp_path: Path) -> None:
    stub = build_stub(tmp_path, without=["nvmlDeviceGetGpuFabricInfoV"])
    assert answer(stub, **FULL).cards[0].fabric == Fabric(state=FabricState.COMPLETED)


def test_a_driver_that_does_not_tell_far_ends_leaves_them_open(tmp_path: Path) -> None:
    missing = ["nvmlDeviceGetNvLinkRemoteDeviceType", "nvmlDeviceGetNvLinkRemotePciInfo_v2"]
    found = answer(build_stub(tmp_path, without=missing), **FULL)
    assert found.cards[0].nvlinks == NvLinks(active=18, inactive=0, switched=None)
    assert found.links[0].nvlinks is None


@pytest.mark.parametrize("function", NEW)
@pytest.mark.parametrize("code", ["3", "13", "15", "999"])
def test_no_failure_of_one_function_costs_the_cards(
    nvml_stub: Path, function: str, code: str
) -> None:
    found = ask(env=stub_env(nvml_stub, H100(1), H100(2), STUB_FAIL=f"{function}={code}", **FULL))
    assert [card.capability for card in found.cards] == ["9.0", "9.0"]
    assert len(found.links) == 1
