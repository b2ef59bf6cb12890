"""What NVML tells about the ways between cards, as JSON objects: run in NVML's own process.

Sources: nvml.h, nvmlGpuTopologyLevel_t, nvmlGpuP2PStatus_t, nvmlGpuFabricInfo_v2_t and
NVML_GPU_FABRIC_HEALTH_MASK_*. The numbers stand here because nvidia-ml-py got some of them late,
and has one (NVML_P2P_CAPS_INDEX_READ) as a tuple.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from itertools import combinations
from typing import Any

__all__ = ["asked", "read_fabric", "read_links", "read_nvlinks"]

_MOST_LINKS = 64
"""NVML ends the count itself, at 36 on the cards of 2026."""
_ROUTES = {0: "BOARD", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
_ACCESS = {
    0: "ok",
    1: "chipset not supported",
    2: "card not supported",
    3: "topology not supported",
    4: "disabled by a setting of the driver",
    5: "not supported",
}
_READ, _ATOMICS = 0, 3
_SWITCH = 2
_STATES = {1: "not started", 2: "in progress", 3: "completed"}
_TROUBLES = (
    (0, "degraded bandwidth"),
    (2, "route recovery under way"),
    (4, "unhealthy route"),
    (6, "recovery from an access timeout"),
)
"""Shift of a two-bit field, of which 1 means yes."""
_CONFIGURATION = 8
"""Shift of the four bits that tell what is set up wrongly; 0 and 1 stand for nothing."""
_WRONG = {
    2: "wrong system GUID",
    3: "wrong chassis serial number",
    4: "no partition",
    5: "too few NVLinks",
    6: "firmware that does not fit",
    7: "wrong location",
    8: "invalid state of the card",
}


def asked(nvml: Any, name: str, *arguments: Any) -> Any:
    """What a function answers; None where driver or binding lack it, or it fails."""
    try:
        return getattr(nvml, name)(*arguments)
    except (nvml.NVMLError, AttributeError):
        return None


def read_nvlinks(nvml: Any, handle: Any) -> dict[str, Any] | None:
    """How many links are up and down, and whether they lead to switches."""
    states, kinds = _links(nvml, handle)
    if not states:
        return None
    up = [link for link, active in states.items() if active]
    known = [kinds[link] for link in up if kinds[link] is not None]
    return {
        "active": len(up),
        "inactive": len(states) - len(up),
        "switched": _SWITCH in known if known else None,
    }


def read_links(nvml: Any, handles: Mapping[int, Any]) -> list[dict[str, Any]]:
    """What lies between each two cards."""
    places = {index: _pci(nvml, handle) for index, handle in handles.items()}
    remote = {index: _remote(nvml, handle) for index, handle in handles.items()}
    found = []
    for (one, first), (other, second) in combinations(handles.items(), 2):
        found.append(
            {
                "one": one,
                "other": other,
                "route": _ROUTES.get(
                    asked(nvml, "nvmlDeviceGetTopologyCommonAncestor", first, second)
                ),
                "nvlinks": _between(remote[one], remote[other], places[other]),
                "access": _access(nvml, first, second),
                "atomics": _atomics(nvml, first, second),
            }
        )
    return found


def _between(
    mine: tuple[int, list[str]] | None, yours: tuple[int, list[str]] | None, your_place: str | None
) -> int | None:
    if mine is None or yours is None:
        return None
    direct = mine[1].count(your_place) if your_place else 0
    return direct or min(mine[0], yours[0])


def _remote(nvml: Any, handle: Any) -> tuple[int, list[str]] | None:
    """Links to switches, and the addresses at the end of the others; None: not told of all."""
    states, kinds = _links(nvml, handle)
    if states is None:
        return None
    switched, places = 0, []
    for link, active in states.items():
        if not active:
            continue
        if kinds[link] == _SWITCH:
            switched += 1
        elif pci := asked(nvml, "nvmlDeviceGetNvLinkRemotePciInfo", handle, link):
            places.append(_text(pci.busId))
        else:
            return None
    return switched, places


def _links(nvml: Any, handle: Any) -> tuple[dict[int, bool] | None, dict[int, int | None]]:
    """State and kind of what is at the other end, by link. No links is none; None: not told."""
    states: dict[int, bool] = {}
    kinds: dict[int, int | None] = {}
    for link in range(_MOST_LINKS):
        try:
            states[link] = bool(nvml.nvmlDeviceGetNvLinkState(handle, link))
        except AttributeError:
            return None, {}
        except nvml.NVMLError as error:
            if error.value == nvml.NVML_ERROR_FUNCTION_NOT_FOUND:
                return None, {}
            if error.value != nvml.NVML_ERROR_NOT_SUPPORTED:
                break  # past the last link
            continue
        kinds[link] = asked(nvml, "nvmlDeviceGetNvLinkRemoteDeviceType", handle, link)
    return states, kinds


def _access(nvml: Any, first: Any, second: Any) -> str | None:
    return _ACCESS.get(asked(nvml, "nvmlDeviceGetP2PStatus", first, second, _READ))


def _atomics(nvml: Any, first: Any, second: Any) -> bool | None:
    status = asked(nvml, "nvmlDeviceGetP2PStatus", first, second, _ATOMICS)
    return None if status not in _ACCESS else bool(status == 0)


def read_fabric(nvml: Any, handle: Any) -> dict[str, Any] | None:
    """The card's registration with the Fabric Manager."""
    info = _fabric_info(nvml, handle)
    state = _STATES.get(info.state) if info is not None else None
    if info is None or state is None:
        return None
    fault = None
    if info.status and state == "completed":
        fault = str(nvml.NVMLError(info.status))
    mask = getattr(info, "healthMask", 0)
    troubles = [words for shift, words in _TROUBLES if mask >> shift & 3 == 1]
    wrong = _WRONG.get(mask >> _CONFIGURATION & 15)
    return {"state": state, "fault": fault, "troubles": troubles + ([wrong] if wrong else [])}


def _fabric_info(nvml: Any, handle: Any) -> Any:
    """The newest form that driver and binding both know; None: neither."""
    for function, kind in (
        ("nvmlDeviceGetGpuFabricInfoV", "c_nvmlGpuFabricInfo_v2_t"),
        ("nvmlDeviceGetGpuFabricInfo", "c_nvmlGpuFabricInfo_t"),
    ):
        if (make := getattr(nvml, kind, None)) is not None:
            info = make()
            if asked(nvml, function, handle, ctypes.byref(info)) is not None:
                return info
    return None


def _pci(nvml: Any, handle: Any) -> str | None:
    info = asked(nvml, "nvmlDeviceGetPciInfo", handle)
    return _text(info.busId) if info else None


def _text(value: Any) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return text.lower()
