"""The targets of a PTX assembler are the names in its strings."""

import pytest

from stackfix_knowledge.binaries.library import is_ptxas, read_ptxas
from stackfix_knowledge.wheels.release import Ptxas


def program(release: str, *strings: str) -> bytes:
    text = "\0".join(["", *strings, f"Cuda compilation tools, release 12.8, V{release}", ""])
    return b"\x7fELF" + text.encode()


def test_targets_and_toolkit_are_read() -> None:
    found = read_ptxas(program("12.8.93", "sm_90", "sm_120a", "sm_90a", "sm_120"))
    assert found == Ptxas(cuda="12.8.93", targets=("sm_90", "sm_90a", "sm_120", "sm_120a"))


def test_a_name_at_the_end_of_a_sentence_counts() -> None:
    """Linkers store a string once that another one ends with."""
    found = read_ptxas(program("12.8.93", "not supported on sm_89"))
    assert found is not None
    assert found.targets == ("sm_89",)


def test_a_name_within_a_word_does_not_count() -> None:
    found = read_ptxas(program("12.8.93", "__nv_sm_89", "sm_90_kernel", "Asm_80"))
    assert found is not None
    assert found.targets == ()


def test_names_of_cards_that_the_toolkit_dropped_do_not_count() -> None:
    found = read_ptxas(program("13.0.88", "sm_50", "sm_70", "sm_75", "sm_120"))
    assert found is not None
    assert found.targets == ("sm_75", "sm_120")


def test_a_program_without_a_version_tells_nothing() -> None:
    assert read_ptxas(b"\x7fELF sm_90\0") is None


@pytest.mark.parametrize(
    "name", ["triton/backends/nvidia/bin/ptxas", "ptxas-blackwell", "nvidia/cuda_nvcc/bin/ptxas"]
)
def test_assemblers_are_known_by_their_names(name: str) -> None:
    assert is_ptxas(name)


@pytest.mark.parametrize("name", ["bin/ptxas.py", "bin/not-ptxas", "libptxas.so", "ptxas/__init__"])
def test_other_files_are_no_assemblers(name: str) -> None:
    assert not is_ptxas(name)
