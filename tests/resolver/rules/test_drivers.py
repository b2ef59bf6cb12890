"""SF201, SF202 and SF203: drivers against CUDA majors and against cards."""

from __future__ import annotations

import pytest

from stackfix.rules.judge import judge_piece
from stackfix.rules.sf201_driver_for_cuda import DriverForCuda
from stackfix.rules.sf202_driver_for_card import DriverForCard
from stackfix.rules.sf203_forward_compatibility import ForwardCompatibility
from tests.resolver.making import graph, library, piece, target, wheel

CODE = library("libtorch_cuda.so", {"sm_70 sm_75 sm_80 sm_90": 10})


@pytest.mark.parametrize(
    ("cuda", "card", "needed"),
    [
        ("13.0", "H100@535.183.01", "580.65.06"),
        ("12.8", "A100@470.256.02", "525.60.13"),
        ("12.8", "A100@535.183.01", None),
        ("13.0", "H100@580.65.06", None),
        ("13.0", "H100", None),
    ],
)
def test_each_cuda_major_has_a_least_driver(cuda: str, card: str, needed: str | None) -> None:
    made = piece("torch", "2.12.0", wheel(CODE, cuda=cuda))
    found = [f for f in judge_piece(made, target(card), graph()) if f.code == "SF201"]
    assert bool(found) is (needed is not None)
    if needed:
        assert needed in found[0].message
        assert found[0].fix == f"driver {needed} or newer, or its cuda-compat package"


def test_a_driver_that_dropped_the_card_is_never_advised() -> None:
    made = piece("torch", "2.12.0", wheel(CODE, cuda="13.0"))
    card = target("V100@570.133.07")
    found = [f for f in judge_piece(made, card, graph()) if f.code == "SF201"]
    assert (found[0].fix or "").startswith(
        "driver 580.65.06 or newer"
    )  # 580 is the last branch for Volta


@pytest.mark.parametrize(
    ("card", "words"),
    [
        ("RTX 5090@550.54.15", "first driver is 570"),
        ("V100@590.44.01", "last branch is 580"),
    ],
)
def test_a_driver_outside_the_cards_span(card: str, words: str) -> None:
    (found,) = DriverForCard().judge(target(card), graph())
    assert words in found.message


@pytest.mark.parametrize(
    "card", ["RTX 5090@570.133.07", "V100@580.65.06", "RTX 5090", "L4@535.54.03"]
)
def test_a_driver_within_the_cards_span(card: str) -> None:
    assert not list(DriverForCard().judge(target(card), graph()))


def test_a_jetson_tells_its_branch_alone() -> None:
    thor = target("Jetson Thor@580.00")
    assert not list(DriverForCard().judge(thor, graph()))
    assert not list(
        DriverForCuda().judge(piece("torch", "2.10.0", wheel(cuda="13.0")), thor, graph())
    )
    assert list(DriverForCard().judge(target("RTX 5090@570.00"), graph()))


def test_cuda_python_is_numbered_as_the_cuda_that_it_is_for() -> None:
    old = target("B200@570.133.20")
    judged = DriverForCuda().judge
    assert list(judged(piece("cuda-bindings", "13.0.1", wheel(cuda=None)), old, graph()))
    assert not list(judged(piece("cuda-bindings", "12.9.4", wheel(cuda=None)), old, graph()))


@pytest.mark.parametrize(
    ("card", "runs"),
    [
        ("A100@535.183.01", False),
        ("A100@535.183.01+580.65.06", True),
        ("A100@535.183.01+570.26", False),  # CUDA 12.8's
        ("A100@580.82.07+570.26", True),  # the driver's own is the newer one
        ("RTX 4090@535.183.01+580.65.06", False),  # no GeForce starts with them
        ("RTX 4090@535.183.01", False),
    ],
)
def test_forward_compatibility_libraries_raise_what_a_data_centre_driver_runs(
    card: str, runs: bool
) -> None:
    made = piece("torch", "2.12.0", wheel(CODE, cuda="13.0"))
    found = [f for f in judge_piece(made, target(card), graph()) if f.code == "SF201"]
    assert (not found) is runs


def test_the_package_is_named_where_the_card_may_use_it() -> None:
    made = piece("torch", "2.12.0", wheel(CODE, cuda="13.0"))
    fixes = {
        card: judge_piece(made, target(f"{card}@535.183.01"), graph())
        for card in ("A100", "RTX 4090")
    }
    told = {card: [f.fix for f in found if f.code == "SF201"] for card, found in fixes.items()}
    assert told["A100"] == ["driver 580.65.06 or newer, or its cuda-compat package"]
    assert told["RTX 4090"] == ["driver 580.65.06 or newer"]


def test_forward_compatibility_libraries_keep_a_geforce_from_starting() -> None:
    (found,) = ForwardCompatibility().judge(target("RTX 4090@535.183.01+580.65.06"), graph())
    assert "804" in found.message
    assert found.evidence
    assert not list(ForwardCompatibility().judge(target("H100@535.183.01+580.65.06"), graph()))


def test_they_change_nothing_about_the_card_that_a_driver_knows() -> None:
    (found,) = DriverForCard().judge(target("B200@550.54.15+580.65.06"), graph())
    assert "first driver" in found.message
