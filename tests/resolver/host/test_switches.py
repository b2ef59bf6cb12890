"""NVSwitches and the Fabric Manager, as the kernel's files show them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.host.switches import (
    read_fabric_manager,
    read_fabric_manager_version,
    read_nvswitches,
)
from tests.resolver.host.test_kernel import pci_device, write


def test_switches_are_known_by_their_pci_class(tmp_path: Path) -> None:
    for number in range(4):
        pci_device(tmp_path, f"0000:0{number}:00.0", "0x10de", "0x22a3", "0x068000")
    pci_device(tmp_path, "0000:10:00.0", "0x10de", "0x2330", "0x030200")  # a card
    pci_device(tmp_path, "0000:11:00.0", "0x1000", "0xc010", "0x068000")  # another vendor's bridge
    assert read_nvswitches(tmp_path) == 4


@pytest.mark.parametrize(
    "names",
    [
        ("proc/driver/nvidia-nvswitch/devices/0000:01:00.0/x",),
        ("dev/nvidia-nvswitch0", "dev/nvidia-nvswitchctl"),
    ],
)
def test_a_container_shows_them_by_the_drivers_own_files(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        write(tmp_path / name, "")
    assert read_nvswitches(tmp_path) == 1


def test_no_devices_at_all_is_not_known(tmp_path: Path) -> None:
    assert read_nvswitches(tmp_path) is None
    pci_device(tmp_path, "0000:00:01.0", "0x8086", "0x1234", "0x060400")
    assert read_nvswitches(tmp_path) == 0


def test_the_fabric_manager_is_known_by_its_process(tmp_path: Path) -> None:
    write(tmp_path / "proc/1/comm", "systemd\n")
    assert read_fabric_manager(tmp_path, container=False) is False
    assert read_fabric_manager(tmp_path, container=True) is None
    write(tmp_path / "proc/734/comm", "nv-fabricmanage\n")
    assert read_fabric_manager(tmp_path, container=False) is True
    assert read_fabric_manager(tmp_path, container=True) is True


def test_without_procfs_nobody_knows(tmp_path: Path) -> None:
    assert read_fabric_manager(tmp_path, container=False) is None


STATUS = """\
Package: nvidia-driver-570-server
Status: install ok installed
Version: 570.133.20-0ubuntu0.22.04.1

Package: nvidia-fabricmanager-570
Status: install ok installed
Priority: optional
Architecture: amd64
Version: 570.124.06-1
Description: Fabric Manager
 for machines with NVSwitches

Package: zlib1g
Version: 1:1.2.11
"""


@pytest.mark.parametrize(
    ("status", "version"),
    [
        (STATUS, "570.124.06"),
        (STATUS.replace("nvidia-fabricmanager-570", "nvidia-fabricmanager"), "570.124.06"),
        (STATUS.replace("570.124.06-1", "1:580.65.06-0ubuntu1"), "580.65.06"),
        (STATUS.replace("nvidia-fabricmanager-570", "nvidia-fabricmanager-dev-570"), None),
        (STATUS.replace("Version: 570.124.06-1\n", ""), None),  # not that of the next package
        ("", None),
        ("Package: nvidia-fabricmanager-570\n" * 50_000, None),
    ],
)
def test_the_version_of_the_fabric_manager_is_the_packages(
    tmp_path: Path, status: str, version: str | None
) -> None:
    write(tmp_path / "var/lib/dpkg/status", status)
    assert read_fabric_manager_version(tmp_path, container=False) == version
    assert read_fabric_manager_version(tmp_path, container=True) is None
