"""Cards, switches, NUMA nodes, IOMMU and interfaces from the files of a kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.host.devices import (
    numa_node,
    read_cards,
    read_driver,
    read_fabric_manager,
    read_fabric_manager_version,
    read_interfaces,
    read_iommu,
    read_numa_nodes,
    read_nvswitches,
)
from stackfix.host.host import Iommu, NetworkInterface
from stackfix_knowledge.cards.gpus import GpuTable

_CLOSED = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"
    "GCC version:  gcc version 11.4.0\n"
)
_OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.133.07  Release Build"
    "  (root@builder)  Fri Mar 14 12:50:03 UTC 2025\nGCC version:  gcc version 13.3.0\n"
)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def pci_device(root: Path, address: str, vendor: str, device: str, kind: str) -> None:
    folder = root / "sys/bus/pci/devices" / address
    write(folder / "vendor", f"{vendor}\n")
    write(folder / "device", f"{device}\n")
    write(folder / "class", f"{kind}\n")


@pytest.mark.parametrize(("text", "version"), [(_CLOSED, "550.54.15"), (_OPEN, "570.133.07")])
def test_the_module_tells_the_driver(tmp_path: Path, text: str, version: str) -> None:
    write(tmp_path / "proc/driver/nvidia/version", text)
    assert read_driver(tmp_path) == version


def test_no_module_no_driver(tmp_path: Path) -> None:
    assert read_driver(tmp_path) is None


def test_the_module_lists_cards_by_name(tmp_path: Path) -> None:
    gpus = tmp_path / "proc/driver/nvidia/gpus"
    write(
        gpus / "0000:41:00.0/information",
        "Model: \t\t NVIDIA L4\nIRQ:   \t\t 0\nGPU UUID: \t GPU-????????-????\n"
        "Bus Location: \t 0000:41:00.0\n",
    )
    write(
        gpus / "0000:01:00.0/information",
        "Model: \t\t NVIDIA GeForce RTX 5090\nGPU UUID: \t GPU-0001-aaaa\n"
        "Bus Location: \t 0000:01:00.0\n",
    )
    first, second = read_cards(tmp_path)
    assert (first.index, first.name, first.uuid) == (0, "NVIDIA GeForce RTX 5090", "GPU-0001-aaaa")
    assert (second.index, second.name, second.uuid) == (1, "NVIDIA L4", None)
    assert second.pci == "0000:41:00.0"


def test_without_a_module_the_bus_lists_ids(tmp_path: Path) -> None:
    pci_device(tmp_path, "0000:01:00.0", "0x10de", "0x2b85", "0x030000")
    pci_device(tmp_path, "0000:01:00.1", "0x10de", "0x22e8", "0x040300")  # its audio function
    pci_device(tmp_path, "0000:02:00.0", "0x8086", "0x56a0", "0x030000")  # another vendor
    pci_device(tmp_path, "0000:03:00.0", "0x10de", "0x1db4", "0x030200")
    assert [card.name for card in read_cards(tmp_path)] == ["10de:2b85", "10de:1db4"]


def test_the_pci_list_of_the_distribution_names_the_ids(tmp_path: Path) -> None:
    pci_device(tmp_path, "0000:01:00.0", "0x10de", "0x2b85", "0x030000")
    pci_device(tmp_path, "0000:02:00.0", "0x10de", "0x20b2", "0x030200")
    write(
        tmp_path / "usr/share/misc/pci.ids",
        "# a comment\n10dd  Another Vendor\n\t2b85  Not this one\n10de  NVIDIA Corporation\n"
        "\t20b2  A100\n\t2b85  GB202 [GeForce RTX 5090]\n\t\t1043 0000  A board\n10df  Third\n",
    )
    assert [card.name for card in read_cards(tmp_path)] == ["GeForce RTX 5090", "A100"]


def test_a_jetson_is_known_by_its_board(tmp_path: Path) -> None:
    write(tmp_path / "proc/device-tree/model", "NVIDIA Jetson AGX Orin Developer Kit\0")
    (card,) = read_cards(tmp_path)
    assert card.name == "NVIDIA Jetson AGX Orin Developer Kit"
    gpu = GpuTable.load().find(card.name)
    assert gpu is not None
    assert str(gpu.capability) == "8.7"


def test_another_board_is_no_card(tmp_path: Path) -> None:
    write(tmp_path / "proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0\0")
    assert read_cards(tmp_path) == ()


def test_a_machine_without_cards_has_none(tmp_path: Path) -> None:
    assert read_cards(tmp_path) == ()


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


CARD = "0000:41:00.0"
DEVICE = f"sys/bus/pci/devices/{CARD}"


def test_numa_nodes_are_counted(tmp_path: Path) -> None:
    for name in ("node0", "node1", "possible"):
        write(tmp_path / "sys/devices/system/node" / name / "x", "")
    assert read_numa_nodes(tmp_path) == 2


def test_a_kernel_without_numa_has_none_and_a_hidden_machine_is_not_known(tmp_path: Path) -> None:
    assert read_numa_nodes(tmp_path) is None
    write(tmp_path / "sys/devices/system/cpu/online", "0-3")
    assert read_numa_nodes(tmp_path) == 0


@pytest.mark.parametrize(("text", "node"), [("1\n", 1), ("-1\n", None), ("", None)])
def test_a_card_is_on_the_node_that_the_firmware_names(
    tmp_path: Path, text: str, node: int | None
) -> None:
    write(tmp_path / DEVICE / "numa_node", text)
    assert numa_node(tmp_path, CARD) == node


@pytest.mark.parametrize("address", [None, "", "../../../etc", "0000:41:00.0/.."])
def test_what_is_no_pci_address_is_not_looked_up(tmp_path: Path, address: str | None) -> None:
    write(tmp_path / "sys/bus/pci/devices/numa_node", "1")
    write(tmp_path / "etc/numa_node", "1")
    assert numa_node(tmp_path, address) is None


@pytest.mark.parametrize(
    ("mode", "iommu"),
    [
        ("DMA-FQ", Iommu.TRANSLATED),
        ("DMA", Iommu.TRANSLATED),
        ("identity", Iommu.PASSTHROUGH),
        ("", Iommu.ON),
    ],
)
def test_the_group_of_a_card_tells_the_mode(tmp_path: Path, mode: str, iommu: Iommu) -> None:
    write(tmp_path / "sys/kernel/iommu_groups/7/type", mode)
    write(tmp_path / DEVICE / "iommu_group/type", mode)
    assert read_iommu(tmp_path, [CARD]) is iommu


def test_no_group_is_no_iommu(tmp_path: Path) -> None:
    assert read_iommu(tmp_path) is None
    (tmp_path / "sys/kernel/iommu_groups").mkdir(parents=True)
    assert read_iommu(tmp_path) is Iommu.OFF


def test_interfaces_that_are_up_are_listed_with_the_default_route(tmp_path: Path) -> None:
    for name, flags in (("lo", "0x9"), ("eth0", "0x1003"), ("eth1", "0x1003"), ("eth2", "0x1002")):
        write(tmp_path / "sys/class/net" / name / "flags", flags + "\n")
    write(
        tmp_path / "proc/net/route",
        "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
        "eth1 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0\n"
        "eth0 0001A8C0 00000000 0001 0 0 100 00FFFFFF 0 0 0\n",
    )
    assert read_interfaces(tmp_path) == (
        NetworkInterface(name="eth0"),
        NetworkInterface(name="eth1", default=True),
    )


def test_a_route_of_ipv6_counts_where_there_is_no_other(tmp_path: Path) -> None:
    write(tmp_path / "sys/class/net/eth0/flags", "0x1003\n")
    nothing = "0" * 32
    write(
        tmp_path / "proc/net/ipv6_route",
        f"{nothing} 00 {nothing} 00 fe80 00000400 1 0 00000003 eth0\n",
    )
    assert read_interfaces(tmp_path) == (NetworkInterface(name="eth0", default=True),)
