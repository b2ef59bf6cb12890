"""Devices as the kernel's files list them: cards, switches, NUMA nodes, IOMMU, network interfaces.

Cards are read here where NVML is absent: a container without the driver's libraries, a broken
install ("Driver/library version mismatch") and a machine that has no driver yet show them still.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from stackfix.host.files import entries, read
from stackfix.host.host import Card, Iommu, NetworkInterface

__all__ = [
    "numa_node",
    "read_cards",
    "read_driver",
    "read_fabric_manager",
    "read_fabric_manager_version",
    "read_interfaces",
    "read_iommu",
    "read_numa_nodes",
    "read_nvswitches",
]

_BUS = "sys/bus/pci/devices"
_NVIDIA = "0x10de"
_DISPLAY_CLASSES = ("0x0300", "0x0302")
"""PCI classes of a VGA and of a 3D controller; the card's audio function has another."""
_SWITCH_CLASS = "0x0680"
"""PCI class of a bridge of another kind, which NVSwitches are."""
_SWITCH_FILE = re.compile(r"nvidia-nvswitch\d{1,3}")
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_PCI_LISTS = ("usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids")
_PCI_LIST_BYTES = 1 << 23
_PCI_LIST_ENTRY = re.compile(r"^\t([0-9a-f]{4})\s+(.*?)(?:\s*\[(.*)\])?$")
_KERNEL_MODULE = re.compile(
    r"^NVRM version:.*?Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)", re.MULTILINE
)
_FABRIC_MANAGER = "nv-fabricmanager"[:15]
"""Its process, by NVIDIA's user guide; the kernel keeps fifteen characters of a name."""
_MOST_PROCESSES = 100_000
_PACKAGES = "var/lib/dpkg/status"
"""What Debian and its like have installed; the databases of others take their own programs."""
_PACKAGES_BYTES = 64 << 20
_PACKAGE = re.compile(r"Package: nvidia-fabricmanager(?:-\d{3})?\n")
_VERSION = re.compile(r"^Version: (?:\d+:)?(\d+(?:\.\d+)+)", re.M)
_UP = 1
"""IFF_UP in the flags of an interface: if.h of Linux."""
_LOOPBACK = 8
"""IFF_LOOPBACK."""


def read_driver(root: Path) -> str | None:
    """Version of the loaded kernel module, or None where none is loaded."""
    text = read(root / "proc/driver/nvidia/version")
    found = _KERNEL_MODULE.search(text) if text else None
    return found[1] if found else None


def read_cards(root: Path) -> tuple[Card, ...]:
    """NVIDIA cards in PCI order, without memory; the capability is left to the table of names."""
    return _cards_of_the_module(root / "proc") or _cards_on_the_bus(root) or _board(root)


def _cards_of_the_module(proc: Path) -> tuple[Card, ...]:
    root = proc / "driver/nvidia/gpus"
    cards: list[Card] = []
    for folder in entries(root) or []:
        text = read(folder / "information")
        if text is None:
            continue
        lines = (line.partition(":") for line in text.splitlines())
        values = {key.strip(): value.strip() for key, _, value in lines}
        uuid = values.get("GPU UUID")
        cards.append(
            Card(
                index=len(cards),
                name=values.get("Model") or "unknown NVIDIA card",
                capability=None,
                uuid=uuid if uuid and "?" not in uuid else None,
                pci=values.get("Bus Location", folder.name).lower(),
            )
        )
    return tuple(cards)


def _cards_on_the_bus(root: Path) -> tuple[Card, ...]:
    found: list[tuple[str, str]] = []
    for device in entries(root / _BUS) or []:
        if (read(device / "vendor") or "").strip() != _NVIDIA:
            continue
        if not (read(device / "class") or "").startswith(_DISPLAY_CLASSES):
            continue
        found.append((device.name, (read(device / "device") or "").strip().removeprefix("0x")))
    names = _names_by_id(root) if found else {}
    return tuple(
        Card(index=index, name=names.get(number, f"10de:{number}"), capability=None, pci=address)
        for index, (address, number) in enumerate(found)
    )


def _board(root: Path) -> tuple[Card, ...]:
    """The integrated GPU of a Jetson, which is on no bus: its board's name stands for it."""
    model = (read(root / "proc/device-tree/model") or "").rstrip("\0").strip()
    return (Card(index=0, name=model, capability=None),) if "Jetson" in model else ()


def _names_by_id(root: Path) -> dict[str, str]:
    """NVIDIA's part of the distribution's PCI list: "2b85" -> "GeForce RTX 5090"."""
    names: dict[str, str] = {}
    for place in _PCI_LISTS:
        ours = False
        for line in (read(root / place, _PCI_LIST_BYTES) or "").splitlines():
            if line[:1] not in ("\t", "#", ""):
                ours = line.startswith("10de")
            elif ours and (entry := _PCI_LIST_ENTRY.match(line)):
                names[entry[1]] = entry[3] or entry[2]
        if names:
            break
    return names


def read_nvswitches(root: Path) -> int | None:
    """NVSwitch devices; None where neither sysfs nor the driver shows devices at all."""
    devices = entries(root / _BUS)
    seen = [
        sum(_is_switch(device) for device in devices or ()),
        len(entries(root / "proc/driver/nvidia-nvswitch/devices") or ()),
        sum(_SWITCH_FILE.fullmatch(path.name) is not None for path in entries(root / "dev") or ()),
    ]
    return max(seen) if devices is not None or any(seen) else None


def _is_switch(device: Path) -> bool:
    if (read(device / "vendor") or "").strip() != _NVIDIA:
        return False
    return (read(device / "class") or "").startswith(_SWITCH_CLASS)


def read_fabric_manager(root: Path, *, container: bool) -> bool | None:
    """Whether the Fabric Manager runs; None where a container may hide it."""
    processes = entries(root / "proc") or []
    for folder in processes[:_MOST_PROCESSES]:
        if folder.name.isdecimal() and (read(folder / "comm") or "").strip() == _FABRIC_MANAGER:
            return True
    return None if container or not processes else False


def read_fabric_manager_version(root: Path, *, container: bool) -> str | None:
    """Version of the Fabric Manager that is installed; None where that is not known."""
    if container:  # its packages are not the machine's
        return None
    for package in (read(root / _PACKAGES, _PACKAGES_BYTES) or "").split("\n\n"):
        if _PACKAGE.match(package) and (version := _VERSION.search(package)):
            return version[1]
    return None


def read_numa_nodes(root: Path) -> int | None:
    """NUMA nodes that the kernel knows; None where sysfs does not show the machine at all."""
    system = root / "sys/devices/system"
    if entries(system) is None:
        return None
    nodes = entries(system / "node") or []
    return sum(re.fullmatch(r"node\d+", node.name) is not None for node in nodes)


def numa_node(root: Path, pci: str | None) -> int | None:
    """The NUMA node of a PCI device."""
    text = (read(_device(root, pci) / "numa_node") or "").strip() if _is_address(pci) else ""
    return int(text) if text.isdecimal() else None  # "-1": the firmware does not say


def read_iommu(root: Path, cards: Sequence[str] = ()) -> Iommu | None:
    """What the IOMMU does for the cards at these PCI addresses."""
    groups = entries(root / "sys/kernel/iommu_groups")
    if groups is None:
        return None
    if not groups:
        return Iommu.OFF
    modes = {
        (read(_device(root, pci) / "iommu_group/type") or "").strip()
        for pci in cards
        if _is_address(pci)
    }
    if any(mode.startswith("DMA") for mode in modes):
        return Iommu.TRANSLATED
    return Iommu.PASSTHROUGH if modes == {"identity"} else Iommu.ON


def read_interfaces(root: Path) -> tuple[NetworkInterface, ...]:
    """The network interfaces that are up, without the loopback."""
    found = []
    routed = _routed(root)
    for folder in entries(root / "sys/class/net") or []:
        flags = _flags(folder)
        if flags & _UP and not flags & _LOOPBACK:
            found.append(NetworkInterface(name=folder.name, default=folder.name in routed))
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


def _is_address(pci: str | None) -> bool:
    return pci is not None and _ADDRESS.fullmatch(pci) is not None


def _device(root: Path, pci: str | None) -> Path:
    return root / _BUS / (pci or "")
