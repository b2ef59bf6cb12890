"""Fleets that no single lock serves are split into as few locks as possible."""

from __future__ import annotations

import tomllib
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix.plan.fleet import EXHAUSTIVE, smallest_split, uv_sketch
from stackfix.targets.target import Target
from tests.resolver.making import target
from tests.resolver.plan.planning import plan_for, project_of

CARDS = [target(name) for name in ("RTX 5090", "H100", "A100", "T4", "V100", "L4", "B200")]


def test_one_group_where_one_serves_all() -> None:
    assert smallest_split(CARDS, lambda group: True) == (tuple(CARDS),)


def test_no_split_helps_a_card_that_has_no_plan_alone() -> None:
    assert smallest_split(CARDS, lambda group: CARDS[4] not in group) is None


@given(
    st.integers(1, EXHAUSTIVE),
    st.sets(st.sampled_from(list(combinations(range(EXHAUSTIVE), 2)))),
)
def test_the_split_is_whole_sound_and_no_larger_than_a_colouring_needs(
    count: int, enemies: set[tuple[int, int]]
) -> None:
    targets = CARDS[:count]

    def serves(group: frozenset[Target]) -> bool:
        return not any(CARDS[one] in group and CARDS[other] in group for one, other in enemies)

    groups = smallest_split(targets, serves)
    assert groups is not None
    assert sorted(t.gpu for group in groups for t in group) == sorted(t.gpu for t in targets)
    assert all(serves(frozenset(group)) for group in groups)
    if len(groups) > 1:
        assert not serves(frozenset(targets))


def test_many_targets_are_split_too() -> None:
    many = [target(f"RTX 5090@570.{n}") for n in range(12)] + [target("V100")]
    groups = smallest_split(many, lambda group: len({t.gpu for t in group}) == 1)
    assert groups is not None
    assert len(groups) == 2


def test_the_sketch_is_what_uv_reads() -> None:
    text = uv_sketch([[CARDS[0]], [CARDS[4], CARDS[3]]], [["torch==2.8.0"], ["torch==2.7.1"]])
    document = tomllib.loads(text)
    assert document["project"]["optional-dependencies"] == {
        "sm120": ["torch==2.8.0"],
        "gpus2": ["torch==2.7.1"],
    }
    assert document["tool"]["uv"]["conflicts"] == [[{"extra": "sm120"}, {"extra": "gpus2"}]]


@pytest.mark.usefixtures("shared_index")
def test_a_real_fleet_is_told_its_locks(tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1")
    cards = ("RTX 5090@570.133.07", "GTX 1080 Ti@570.133.07", "L4@570.133.07")
    plan = plan_for(project, *cards, strategy="same-index")
    (split,) = [lift for lift in plan.lifts if "locks serve them all" in lift]
    assert split.startswith("2 locks serve them all")
    assert "torch 2.7.1 → 2.8.0" in split
