"""NUMA nodes, IOMMU and network interfaces, as sysfs and procfs show them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.host.host import Interface, Iommu
from stackfix.host.layout import numa_node, read_interfaces, read_iommu, read_numa_nodes
from tests.resolver.host.test_kernel import write

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
        Interface(name="eth0"),
        Interface(name="eth1", default=True),
    )


def test_a_route_of_ipv6_counts_where_there_is_no_other(tmp_path: Path) -> None:
    write(tmp_path / "sys/class/net/eth0/flags", "0x1003\n")
    nothing = "0" * 32
    write(
        tmp_path / "proc/net/ipv6_route",
        f"{nothing} 00 {nothing} 00 fe80 00000400 1 0 00000003 eth0\n",
    )
    assert read_interfaces(tmp_path) == (Interface(name="eth0", default=True),)
