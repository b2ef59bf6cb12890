"""SF101, SF102, SF103, SF105 and SF109: what a wheel carries against what the card runs."""

from __future__ import annotations

import pytest

from stackfix.model.finding import Severity
from stackfix.model.stack import Piece
from stackfix.rules.judge import judge_piece
from tests.resolver.making import graph, library, piece, target, wheel

CUDA_126 = "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90"


def codes(made: Piece, card: str) -> dict[str, Severity]:
    return {f.code: f.severity for f in judge_piece(made, target(card), graph())}


def test_code_up_to_9_0_is_none_for_an_rtx_5090() -> None:
    made = piece("torch", "2.7.1", wheel(library("libtorch_cuda.so", {CUDA_126: 393})))
    found = judge_piece(made, target("RTX 5090"), graph())
    errors = [f for f in found if f.code == "SF101"]
    assert errors[0].severity is Severity.ERROR
    assert "12.0" in errors[0].message
    assert "sm_90" in errors[0].message


@pytest.mark.parametrize("card", ["L4", "RTX 4090"])
def test_ada_runs_sm_86_code(card: str) -> None:
    made = piece("torch", "2.7.1", wheel(library("libtorch_cuda.so", {CUDA_126: 393})))
    assert not {"SF101", "SF102", "SF103"} & codes(made, card).keys()


def test_ptx_alone_is_jit_and_a_warning() -> None:
    made = piece(
        "nvidia-nccl-cu12", "2.21.5", wheel(library("x.so", {"sm_80 sm_90 compute_90": 1}))
    )
    assert codes(made, "RTX 5090")["SF102"] is Severity.WARNING


def test_ptx_newer_than_the_driver_compiles_is_an_error() -> None:
    fact = wheel(library("x.so", {"sm_80 sm_90 compute_90": 1}), cuda="12.9")
    made = piece("nvidia-nccl-cu12", "2.21.5", fact)
    found = codes(made, "RTX 5090@570.133.07")
    assert found["SF102"] is Severity.ERROR


def test_ptx_in_a_part_of_the_containers_is_partial() -> None:
    engines = library(
        "libcudnn_engines_precompiled.so.9", {CUDA_126: 620, CUDA_126 + " compute_90": 107}
    )
    found = judge_piece(
        piece("nvidia-cudnn-cu12", "9.5.1.17", wheel(engines)), target("RTX 5090"), graph()
    )
    partial = [f for f in found if f.code == "SF103"]
    assert partial[0].severity is Severity.ERROR
    assert "107 JIT of 727" in partial[0].message


def test_one_library_without_code_makes_the_package_partial() -> None:
    made = piece(
        "torch",
        "2.12.0",
        wheel(
            library("libtorch_cuda.so", {"sm_75 sm_80 sm_90 sm_100 sm_120": 400}),
            library("libtorch_cuda_linalg.so", {"sm_80 sm_90 sm_100 sm_120": 33}),
        ),
    )
    assert codes(made, "T4")["SF103"] is Severity.ERROR
    assert "SF103" not in codes(made, "A100")


def test_a_cpu_build_leaves_the_card_idle() -> None:
    made = piece("torch", "2.10.0", wheel(cuda=None, cpu_only=True))
    assert codes(made, "RTX 5090") == {"SF105": Severity.ERROR}
    assert codes(piece("torch", "2.7.1+cpu"), "RTX 5090")["SF105"] is Severity.ERROR


def test_what_nobody_measured_is_said_to_be_so_and_is_no_error() -> None:
    assert codes(piece("torch", "2.7.99"), "RTX 5090") == {"SF109": Severity.INFO}


def test_a_package_without_gpu_code_has_nothing_to_measure() -> None:
    assert codes(piece("jax", "0.5.3"), "RTX 5090") == {}
