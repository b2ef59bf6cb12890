"""Putting NVML, the kernel's files and the environment together."""

from __future__ import annotations

from pathlib import Path

from stackfix.host.detect import detect
from stackfix.host.host import CardSource
from stackfix_knowledge.cards.gpus import GpuTable
from tests.resolver.host.stub import RTX_5090, V100, stub_env
from tests.resolver.host.test_devices import pci_device, write

GPUS = GpuTable.load()


def test_nvml_is_believed_first(nvml_stub: Path, tmp_path: Path) -> None:
    write(tmp_path / "proc/driver/nvidia/version", "NVRM version: X Kernel Module  1.2.3  x")
    host = detect(gpus=GPUS, env=stub_env(nvml_stub, RTX_5090(1), RTX_5090(2)), root=tmp_path)
    assert (host.source, host.driver, host.cuda_driver) == (CardSource.NVML, "570.133.07", "12.8")
    assert len(host.visible) == 2
    assert host.notes == ()


def test_hidden_cards_stay_listed_but_not_visible(nvml_stub: Path, tmp_path: Path) -> None:
    env = stub_env(nvml_stub, RTX_5090(1), V100(2), CUDA_VISIBLE_DEVICES="GPU-0002")
    host = detect(gpus=GPUS, env=env, root=tmp_path)
    assert [card.visible for card in host.cards] == [False, True]
    assert host.visible_devices == "GPU-0002"


def test_without_nvml_the_kernel_and_the_table_of_names_answer(tmp_path: Path) -> None:
    write(
        tmp_path / "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue",
    )
    write(
        tmp_path / "proc/driver/nvidia/gpus/0000:01:00.0/information",
        "Model: \t NVIDIA GeForce RTX 4090\nBus Location: \t 0000:01:00.0\n",
    )
    host = detect(gpus=GPUS, env=stub_env(tmp_path), root=tmp_path)
    assert (host.source, host.driver) == (CardSource.PROC, "550.54.15")
    assert host.cards[0].capability == "8.9"
    assert "Shared Library Not Found" in host.notes[0]


def test_a_card_that_no_table_knows_is_noted(tmp_path: Path) -> None:
    pci_device(tmp_path, "0000:01:00.0", "0x10de", "0xffff", "0x030000")
    host = detect(gpus=GPUS, env=stub_env(tmp_path), root=tmp_path)
    assert host.cards[0].capability is None
    assert any("10de:ffff" in note and "--target" in note for note in host.notes)
    assert any("no NVIDIA driver is loaded" in note for note in host.notes)


def test_a_machine_without_a_card_has_nothing_to_complain_about(tmp_path: Path) -> None:
    host = detect(gpus=GPUS, env=stub_env(tmp_path, CUDA_VISIBLE_DEVICES="0"), root=tmp_path)
    assert (host.source, host.cards, host.driver, host.notes) == (CardSource.NONE, (), None, ())


def test_a_hang_is_bounded_and_told(nvml_stub: Path, tmp_path: Path) -> None:
    pci_device(tmp_path, "0000:01:00.0", "0x10de", "0x2b85", "0x030000")
    env = stub_env(nvml_stub, RTX_5090(), STUB_SLOW="nvmlDeviceGetCount_v2=30")
    host = detect(gpus=GPUS, env=env, root=tmp_path, timeout=0.5)
    assert "no answer within 0.5 s" in host.notes[0]
    assert len(host.cards) == 1
