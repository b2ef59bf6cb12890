"""SF106: the PTX assembler in a wheel, the card, and the driver."""

from __future__ import annotations

import pytest

from stackfix.model.finding import Severity
from stackfix.model.stack import Piece, Stack
from stackfix.rules.judge import judge_stack
from stackfix_knowledge.wheels.release import Ptxas
from tests.resolver.making import graph, piece, stack, target, wheel


def known(name: str, version: str, platform: str = "linux_x86_64") -> Piece:
    """A piece with the facts that ship."""
    package = graph().packages.get(name)
    release = graph().release(name, version)
    assert package is not None
    assert release is not None
    return Piece.known(graph(), package, release.version, platform)


def found(made: Stack, card: str) -> list[tuple[str, Severity, str]]:
    findings = judge_stack(made, target(card), graph())
    return [(f.package, f.severity, f.message) for f in findings if f.code == "SF106"]


@pytest.mark.parametrize(
    ("version", "card", "knows"),
    [
        ("3.1.0", "RTX 5090", False),  # CUDA 12.4
        ("3.3.1", "RTX 5090", True),  # CUDA 12.8
        ("3.1.0", "H100", True),
        ("3.3.1", "V100", True),
    ],
)
def test_tritons_ptxas_has_to_know_the_card(version: str, card: str, knows: bool) -> None:
    findings = found(stack(known("triton", version)), card)
    assert bool(findings) is not knows
    if findings:
        assert findings[0][:2] == ("triton", Severity.ERROR)
        assert "which does not know sm_120" in findings[0][2]


def test_code_for_a_variant_of_the_card_is_code_for_the_card() -> None:
    made = wheel(ptxas=(Ptxas(cuda="12.9.86", targets=("sm_90", "sm_121a")),))
    assert not found(stack(piece("triton", "3.4.0", made)), "sm_121")


def test_a_sibling_of_the_card_is_not_the_card() -> None:
    made = wheel(ptxas=(Ptxas(cuda="12.8.61", targets=("sm_120", "sm_120a")),))
    assert found(stack(piece("triton", "3.4.0", made)), "sm_121")


def test_a_card_that_the_toolkit_dropped_is_no_longer_known() -> None:
    made = wheel(ptxas=(Ptxas(cuda="13.0.88", targets=("sm_75", "sm_90")),))
    ((_, _, message),) = found(stack(piece("triton", "3.6.0", made)), "V100")
    assert "no longer knows sm_70" in message


@pytest.mark.parametrize(
    ("release", "severity"),
    [
        ("2.9.1+cu128", Severity.ERROR),  # brings no ptxas
        ("2.9.1+cu130", Severity.WARNING),  # documented: that of CUDA 13.0, for torch.compile
    ],
)
def test_torch_may_bring_the_ptxas_that_triton_lacks(release: str, severity: Severity) -> None:
    made = stack(
        known("torch", release, "linux_aarch64"), known("triton", "3.5.1", "linux_aarch64")
    )
    ((package, found_severity, message),) = found(made, "Jetson Thor")
    assert (package, found_severity) == ("triton", severity)
    assert ("torch.compile uses that of torch" in message) is (severity is Severity.WARNING)


def test_a_ptxas_whose_targets_nobody_read_is_known_by_its_toolkit() -> None:
    torch = piece("torch", "2.9.1", wheel(ptxas=(Ptxas(cuda="13.0", targets=()),)))
    triton = piece("triton", "3.5.1", wheel(ptxas=(Ptxas(cuda="12.8.93", targets=("sm_75",)),)))
    ((_, severity, _),) = found(stack(torch, triton), "V100")  # CUDA 13 dropped it as well
    assert severity is Severity.ERROR
    ((_, severity, _),) = found(stack(torch, triton), "GB10")
    assert severity is Severity.WARNING


def test_xla_falls_back_so_it_is_a_warning() -> None:
    made = wheel(ptxas=(Ptxas(cuda="12.4.131", targets=("sm_90",)),))
    findings = found(
        stack(piece("nvidia-cuda-nvcc-cu12", "12.4.131", made), piece("jax", "0.5.0", wheel())),
        "RTX 5090",
    )
    assert {severity for _, severity, _ in findings} == {Severity.WARNING}


@pytest.mark.parametrize(("driver", "newer"), [("570.133.07", True), ("575.57.08", False)])
def test_a_ptxas_newer_than_the_driver_slows_xla_down(driver: str, newer: bool) -> None:
    made = wheel(ptxas=(Ptxas(cuda="12.9.41", targets=("sm_120",)),))
    nvcc = piece("nvidia-cuda-nvcc-cu12", "12.9.41", made)
    findings = found(stack(nvcc, piece("jax", "0.5.3", wheel())), f"RTX 5090@{driver}")
    assert bool(findings) is newer
    assert not found(stack(nvcc), f"RTX 5090@{driver}")  # without jax nobody runs it


def test_without_a_driver_or_without_facts_there_is_nothing_to_say() -> None:
    made = wheel(ptxas=(Ptxas(cuda="12.9.41", targets=("sm_120",)),))
    nvcc = piece("nvidia-cuda-nvcc-cu12", "12.9.41", made)
    assert not found(stack(nvcc, piece("jax", "0.5.3", wheel())), "RTX 5090")
    assert not found(stack(piece("triton", "9.9.9")), "RTX 5090")
