"""Cards and driver from the files of a kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.host.kernel import read_cards, read_driver
from stackfix_knowledge.gpus import GpuTable

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
