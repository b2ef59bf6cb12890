"""Cards as the kernel lists them: /proc/driver/nvidia and sysfs, for when NVML is absent.

A container without the driver's libraries, a broken install ("Driver/library version mismatch")
and a machine that has no driver yet still show their cards here.
"""

from __future__ import annotations

import re
from pathlib import Path

from stackfix.host.host import Card

__all__ = ["read_cards", "read_driver"]

_NVIDIA = "0x10de"
_DISPLAY_CLASSES = ("0x0300", "0x0302")
"""PCI classes of a VGA and of a 3D controller; the card's audio function has another."""
_MOST_BYTES = 1 << 16
_MOST_BYTES_OF_A_PCI_LIST = 1 << 23
_PCI_LISTS = ("usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids")
_PCI_DEVICE = re.compile(r"^\t([0-9a-f]{4})\s+(.*?)(?:\s*\[(.*)\])?$")

_KERNEL_MODULE = re.compile(
    r"^NVRM version:.*?Kernel Module(?: for \S+)?\s+(\d+(?:\.\d+)+)", re.MULTILINE
)


def read_driver(root: Path = Path("/")) -> str | None:
    """Version of the loaded kernel module, or None where none is loaded."""
    text = _read(root / "proc/driver/nvidia/version")
    found = _KERNEL_MODULE.search(text) if text else None
    return found[1] if found else None


def read_cards(root: Path = Path("/")) -> tuple[Card, ...]:
    """NVIDIA cards in PCI order, without memory; the capability is left to the table of names."""
    return _cards_of_the_module(root / "proc") or _cards_on_the_bus(root) or _board(root)


def _cards_of_the_module(proc: Path) -> tuple[Card, ...]:
    root = proc / "driver/nvidia/gpus"
    cards: list[Card] = []
    for folder in _sorted_entries(root):
        text = _read(folder / "information")
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
    for device in _sorted_entries(root / "sys/bus/pci/devices"):
        if (_read(device / "vendor") or "").strip() != _NVIDIA:
            continue
        if not (_read(device / "class") or "").startswith(_DISPLAY_CLASSES):
            continue
        found.append((device.name, (_read(device / "device") or "").strip().removeprefix("0x")))
    names = _names_by_id(root) if found else {}
    return tuple(
        Card(index=index, name=names.get(number, f"10de:{number}"), capability=None, pci=address)
        for index, (address, number) in enumerate(found)
    )


def _board(root: Path) -> tuple[Card, ...]:
    """The integrated GPU of a Jetson, which is on no bus: its board's name stands for it."""
    model = (_read(root / "proc/device-tree/model") or "").rstrip("\0").strip()
    return (Card(index=0, name=model, capability=None),) if "Jetson" in model else ()


def _names_by_id(root: Path) -> dict[str, str]:
    """NVIDIA's part of the distribution's PCI list: "2b85" -> "GeForce RTX 5090"."""
    names: dict[str, str] = {}
    for place in _PCI_LISTS:
        ours = False
        for line in (_read(root / place, _MOST_BYTES_OF_A_PCI_LIST) or "").splitlines():
            if line[:1] not in ("\t", "#", ""):
                ours = line.startswith("10de")
            elif ours and (entry := _PCI_DEVICE.match(line)):
                names[entry[1]] = entry[3] or entry[2]
        if names:
            break
    return names


def _sorted_entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _read(path: Path, most: int = _MOST_BYTES) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(most).decode(errors="replace")
    except OSError:
        return None
