"""NVSwitches and the Fabric Manager that sets them up, as the kernel's files show them.

Sources: NVIDIA Fabric Manager User Guide (process nv-fabricmanager), PCI class codes (0x0680: a
bridge of another kind, which NVSwitches are; cards are 0x0300 and 0x0302).
"""

from __future__ import annotations

import re
from pathlib import Path

from stackfix.host.files import entries, read

__all__ = ["read_fabric_manager", "read_fabric_manager_version", "read_nvswitches"]

_NVIDIA = "0x10de"
_BRIDGE = "0x0680"
_DEVICE = re.compile(r"nvidia-nvswitch\d{1,3}")
_PROCESS = "nv-fabricmanager"[:15]
"""The kernel keeps fifteen characters of a process's name."""
_MOST_PROCESSES = 100_000
_PACKAGES = "var/lib/dpkg/status"
"""What Debian and its like have installed; the databases of others take their own programs."""
_MOST_BYTES = 64 << 20
_PACKAGE = re.compile(r"Package: nvidia-fabricmanager(?:-\d{3})?\n")
_VERSION = re.compile(r"^Version: (?:\d+:)?(\d+(?:\.\d+)+)", re.M)


def read_nvswitches(root: Path = Path("/")) -> int | None:
    """NVSwitch devices; None where neither sysfs nor the driver shows devices at all."""
    devices = entries(root / "sys/bus/pci/devices")
    seen = [
        sum(_is_switch(device) for device in devices or ()),
        len(entries(root / "proc/driver/nvidia-nvswitch/devices") or ()),
        sum(_DEVICE.fullmatch(path.name) is not None for path in entries(root / "dev") or ()),
    ]
    return max(seen) if devices is not None or any(seen) else None


def _is_switch(device: Path) -> bool:
    if (read(device / "vendor") or "").strip() != _NVIDIA:
        return False
    return (read(device / "class") or "").startswith(_BRIDGE)


def read_fabric_manager(root: Path = Path("/"), *, container: bool) -> bool | None:
    """Whether the Fabric Manager runs; None where a container may hide it."""
    processes = entries(root / "proc") or []
    for folder in processes[:_MOST_PROCESSES]:
        if folder.name.isdecimal() and (read(folder / "comm") or "").strip() == _PROCESS:
            return True
    return None if container or not processes else False


def read_fabric_manager_version(root: Path = Path("/"), *, container: bool) -> str | None:
    """Version of the Fabric Manager that is installed; None where that is not known."""
    if container:  # its packages are not the machine's
        return None
    for package in (read(root / _PACKAGES, _MOST_BYTES) or "").split("\n\n"):
        if _PACKAGE.match(package) and (version := _VERSION.search(package)):
            return version[1]
    return None
