"""How the machine is laid out: NUMA nodes, IOMMU, network interfaces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from stackfix.host.files import entries, read
from stackfix.host.host import Interface, Iommu

__all__ = ["numa_node", "read_interfaces", "read_iommu", "read_numa_nodes"]

_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_UP = 1
"""IFF_UP in the flags of an interface: if.h of Linux."""
_LOOPBACK = 8
"""IFF_LOOPBACK."""


def read_numa_nodes(root: Path = Path("/")) -> int | None:
    """NUMA nodes that the kernel knows; None where sysfs does not show the machine at all."""
    system = root / "sys/devices/system"
    if entries(system) is None:
        return None
    nodes = entries(system / "node") or []
    return sum(re.fullmatch(r"node\d+", node.name) is not None for node in nodes)


def numa_node(root: Path, pci: str | None) -> int | None:
    """The NUMA node of a PCI device."""
    text = (read(_device(root, pci) / "numa_node") or "").strip() if _is_pci(pci) else ""
    return int(text) if text.isdecimal() else None  # "-1": the firmware does not say


def read_iommu(root: Path = Path("/"), cards: Sequence[str] = ()) -> Iommu | None:
    """What the IOMMU does for the cards at these PCI addresses."""
    groups = entries(root / "sys/kernel/iommu_groups")
    if groups is None:
        return None
    if not groups:
        return Iommu.OFF
    modes = {
        (read(_device(root, pci) / "iommu_group/type") or "").strip()
        for pci in cards
        if _is_pci(pci)
    }
    if any(mode.startswith("DMA") for mode in modes):
        return Iommu.TRANSLATED
    return Iommu.PASSTHROUGH if modes == {"identity"} else Iommu.ON


def read_interfaces(root: Path = Path("/")) -> tuple[Interface, ...]:
    """The network interfaces that are up, without the loopback."""
    found = []
    routed = _routed(root)
    for folder in entries(root / "sys/class/net") or []:
        flags = _flags(folder)
        if flags & _UP and not flags & _LOOPBACK:
            found.append(Interface(name=folder.name, default=folder.name in routed))
    return tuple(found)


def _flags(folder: Path) -> int:
    try:
        return int((read(folder / "flags") or "").strip(), 16)
    except ValueError:
        return 0


def _routed(root: Path) -> set[str]:
    """Interfaces with a default route, of IPv4 or, where that has none, of IPv6."""
    lines = [line.split() for line in (read(root / "proc/net/route") or "").splitlines()]
    found = {parts[0] for parts in lines if len(parts) > 7 and parts[1] == parts[7] == "00000000"}
    if found:
        return found
    lines = [line.split() for line in (read(root / "proc/net/ipv6_route") or "").splitlines()]
    nothing = "0" * 32
    return {
        parts[9]
        for parts in lines
        if len(parts) > 9 and parts[:2] == [nothing, "00"] and parts[9] != "lo"
    }


def _is_pci(pci: str | None) -> bool:
    return pci is not None and _PCI.fullmatch(pci) is not None


def _device(root: Path, pci: str | None) -> Path:
    return root / "sys/bus/pci/devices" / (pci or "")
