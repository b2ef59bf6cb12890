"""Cards by name: what people write, what nvidia-smi prints, and what stays unclear."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix_knowledge.cards.gpus import Gpu, GpuTable, Segment


@pytest.fixture(scope="module")
def gpus() -> GpuTable:
    return GpuTable.load()


@pytest.mark.parametrize(
    ("written", "capability"),
    [
        ("RTX 5090", "12.0"),
        ("NVIDIA GeForce RTX 5090", "12.0"),
        ("rtx5090", "12.0"),
        ("5090", "12.0"),
        ("NVIDIA GeForce RTX 5090 Laptop GPU", "12.0"),
        ("RTX PRO 6000 Blackwell", "12.0"),
        ("GB10", "12.1"),
        ("DGX Spark", "12.1"),
        ("B200", "10.0"),
        ("B300", "10.3"),
        ("Jetson Thor", "11.0"),
        ("H100", "9.0"),
        ("NVIDIA H100 80GB HBM3", "9.0"),
        ("NVIDIA GH200 480GB", "9.0"),
        ("NVIDIA L40S", "8.9"),
        ("L4", "8.9"),
        ("RTX 4090", "8.9"),
        ("NVIDIA A10G", "8.6"),
        ("A6000", "8.6"),
        ("NVIDIA A100-SXM4-80GB", "8.0"),
        ("NVIDIA A100-SXM4-80GB MIG 1g.10gb", "8.0"),
        ("Tesla T4", "7.5"),
        ("GTX 1660 Ti", "7.5"),
        ("Tesla V100-SXM2-16GB", "7.0"),
        ("GTX 1080 Ti", "6.1"),
        ("gtx1080ti", "6.1"),
        ("Tesla P100-PCIE-16GB", "6.0"),
        ("GTX 960", "5.2"),
        ("GTX 960M", "5.0"),
    ],
)
def test_a_name_finds_its_capability(gpus: GpuTable, written: str, capability: str) -> None:
    found = gpus.find(written)
    assert found is not None
    assert str(found.capability) == capability


def test_the_longest_known_name_wins(gpus: GpuTable) -> None:
    """RTX 6000 Ada Generation is no Quadro RTX 6000 with something after it."""
    found = gpus.find("NVIDIA RTX 6000 Ada Generation")
    assert found is not None
    assert (found.name, str(found.capability)) == ("RTX 6000 Ada Generation", "8.9")


@pytest.mark.parametrize("written", ["RTX 6000", "RTX 4000", "TITAN X", "Jetson", "RTX"])
def test_a_name_of_different_cards_is_not_clear(gpus: GpuTable, written: str) -> None:
    assert gpus.find(written) is None


@pytest.mark.parametrize("written", ["", "Tesla M1060", "GTX 680", "Radeon VII", "A100X", "  "])
def test_an_unknown_name_finds_nothing(gpus: GpuTable, written: str) -> None:
    assert gpus.find(written) is None


def test_near_names_what_an_unclear_name_may_mean(gpus: GpuTable) -> None:
    assert gpus.near("RTX 6000")[:2] == ("Quadro RTX 6000", "RTX 6000 Ada Generation")


def test_near_forgives_a_slip(gpus: GpuTable) -> None:
    assert "GeForce RTX 5090" in gpus.near("RTX 5099")


def test_near_has_nothing_for_nonsense(gpus: GpuTable) -> None:
    assert gpus.near("qqqqqqqqqqqq") == ()


@pytest.mark.parametrize("name", ["GH200", "GB200", "GB10", "Jetson Thor", "Jetson AGX Orin"])
def test_cards_that_come_with_an_arm_processor(gpus: GpuTable, name: str) -> None:
    found = gpus.find(name)
    assert found is not None
    assert found.platform == "linux_aarch64"


def test_other_cards_are_expected_in_an_x86_machine(gpus: GpuTable) -> None:
    found = gpus.find("H100")
    assert found is not None
    assert found.platform == "linux_x86_64"


@pytest.mark.parametrize(
    ("name", "segment"),
    [
        ("H100", Segment.DATACENTER),
        ("RTX 5090", Segment.GEFORCE),
        ("RTX A6000", Segment.WORKSTATION),
        ("Jetson AGX Orin", Segment.JETSON),
    ],
)
def test_segments(gpus: GpuTable, name: str, segment: Segment) -> None:
    found = gpus.find(name)
    assert found is not None
    assert found.segment is segment


def test_every_name_finds_itself(gpus: GpuTable) -> None:
    """A name written in full is never taken for another card."""
    for gpu in gpus:
        found = gpus.find(gpu.name)
        assert found is not None, gpu.name
        assert found.capability == gpu.capability, gpu.name


def test_every_alias_of_one_card_finds_it_or_is_unclear(gpus: GpuTable) -> None:
    for gpu in gpus:
        for alias in gpu.aliases:
            found = gpus.find(alias)
            assert found is None or found.capability == gpu.capability, alias


def test_names_are_listed_once(gpus: GpuTable) -> None:
    names = [gpu.name for gpu in gpus]
    assert len(names) == len(set(names))


def test_every_card_has_evidence(gpus: GpuTable) -> None:
    assert all(gpu.evidence for gpu in gpus)


TABLE = GpuTable.load()


@given(st.text(max_size=60))
def test_no_text_breaks_the_look_up(text: str) -> None:
    TABLE.find(text)
    TABLE.near(text)


@given(st.sampled_from(list(TABLE)), st.sampled_from(["80GB", "PCIe", "(MIG 1g.10gb)", "x"]))
def test_words_after_a_full_name_change_nothing(gpu: Gpu, words: str) -> None:
    found = TABLE.find(f"{gpu.name} {words}")
    assert found is not None
    assert found.capability == gpu.capability
