"""SF303 and SF101 of packages that hold a library for each CUDA."""

from __future__ import annotations

import pytest

from stackfix.model.finding import Finding
from stackfix.model.stack import Piece
from stackfix.rules.judge import judge_stack
from tests.resolver.making import graph, library, piece, stack, target, wheel

CODE = {"sm_70 sm_80 sm_90": 9}


def bitsandbytes(version: str, **code: dict[str, int]) -> Piece:
    """A wheel with these libraries, `cuda128={"sm_80 sm_90": 9}`."""
    made = [library(f"bitsandbytes/libbitsandbytes_{name}.so", code[name]) for name in code]
    return piece("bitsandbytes", version, wheel(*made, cuda=None))


def found(made: Piece, cuda: str | None, card: str = "A100") -> list[Finding]:
    torch = piece("torch", "2.8.0", wheel(library("torch", CODE), cuda=cuda))
    findings = judge_stack(stack(torch, made), target(card), graph())
    return [finding for finding in findings if finding.package == "bitsandbytes"]


def test_the_library_for_torchs_cuda_must_be_there() -> None:
    (missing,) = found(bitsandbytes("0.45.2", cuda118=CODE, cuda126=CODE), "12.8")
    assert missing.code == "SF303"
    assert "no library for CUDA 12.8, that of torch 2.8.0, but for 11.8, 12.6" in missing.message
    assert "BNB_CUDA_VERSION" in (missing.fix or "")


def test_another_major_is_no_way_out() -> None:
    (missing,) = found(bitsandbytes("0.47.0", cuda126=CODE), "13.0")
    assert missing.fix is None


@pytest.mark.parametrize("cuda", ["12.6", None])
def test_nothing_is_said_where_it_is_there_or_torchs_cuda_is_unknown(cuda: str | None) -> None:
    assert not found(bitsandbytes("0.45.2", cuda126=CODE), cuda)


def test_it_is_the_loaded_library_that_needs_code_for_the_card() -> None:
    made = bitsandbytes("0.46.1", cuda126=CODE, cuda128={"sm_80 sm_90": 9})
    (lacking,) = found(made, "12.8", card="V100")
    assert lacking.code == "SF101"
    assert "loads libbitsandbytes_cuda128.so beside torch 2.8.0" in lacking.message
    assert not found(made, "12.6", card="V100")
