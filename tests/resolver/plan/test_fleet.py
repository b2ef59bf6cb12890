"""Fleets that no single lock serves are split into as few locks as possible."""

from __future__ import annotations

import tomllib
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix.model.target import Target
from stackfix.plan.explain.fleet import EXHAUSTIVE, GroupRequirements, smallest_split, uv_sketch
from stackfix.plan.plan import Status
from stackfix.rules.judge import errors
from tests.registry.server import Index
from tests.resolver.making import graph, target
from tests.resolver.plan.mirrored import locked, plan_on
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
    stacks = [
        GroupRequirements(("torch==2.8.0",), {}),
        GroupRequirements(("torch==2.7.1",), {"torch": "cu126"}),
    ]
    text = uv_sketch([[CARDS[0]], [CARDS[4], CARDS[3]]], stacks, graph().indexes)
    document = tomllib.loads(text)
    assert document["project"]["optional-dependencies"] == {
        "sm120": ["torch==2.8.0"],
        "gpus2": ["torch==2.7.1"],
    }
    uv = document["tool"]["uv"]
    assert uv["conflicts"] == [[{"extra": "sm120"}, {"extra": "gpus2"}]]
    assert uv["sources"] == {"torch": [{"index": "pytorch-cu126", "extra": "gpus2"}]}
    assert [index["name"] for index in uv["index"]] == ["pytorch-cu126"]


def test_groups_of_one_kind_of_card_have_names_of_their_own() -> None:
    old, new = target("L4@535.183.01"), target("L4@580.82.07")
    text = uv_sketch(
        [[old], [new]], [GroupRequirements(("torch==2.10.0",), {})] * 2, graph().indexes
    )
    assert set(tomllib.loads(text)["project"]["optional-dependencies"]) == {"sm89-1", "sm89-2"}


@pytest.mark.usefixtures("shared_index")
def test_a_real_fleet_is_told_its_locks(tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1")
    cards = ("RTX 5090@570.133.07", "GTX 1080 Ti@570.133.07", "L4@570.133.07")
    plan = plan_for(project, *cards, strategy="same-index")
    (split,) = [way for way in plan.ways_out if "locks serve them all" in way]
    assert split.startswith("2 locks serve them all")
    assert "torch 2.7.1 → 2.8.0" in split


@pytest.mark.parametrize(
    ("depends", "cards"),
    [
        (("torch==2.7.1", "torchvision"), ("RTX 5090@580.82.07", "GTX 1080 Ti@570.133.07")),
        (("torch==2.12.0",), ("V100@570.133.20", "B200@580.82.07")),
        (("torch==2.12.0",), ("V100@570.133.20", "Jetson Thor@580.95.05")),
        (("torch==2.7.1", "jax[cuda12]==0.5.3"), ("B200@570.133.20", "P100@570.133.20")),
    ],
)
def test_uv_locks_the_sketch_and_each_group_is_served(
    shared_index: Index, tmp_path: Path, depends: tuple[str, ...], cards: tuple[str, ...]
) -> None:
    project = locked(shared_index, tmp_path / "p", *depends)
    plan = plan_on(shared_index, project, *cards)
    if plan.status is Status.PLANNED:
        return
    sketch = plan.ways_out[-1].partition("\n")[2]
    split = locked(shared_index, tmp_path / "split", extra=sketch)
    extras = tomllib.loads(sketch)["project"]["optional-dependencies"]
    for card in cards:
        name = next(e for e in extras if e == f"sm{target(card).capability}".replace(".", ""))
        alone = plan_on(shared_index, split, card, extras=(name,))
        assert alone.status is Status.NOTHING_TO_DO, (card, sketch, errors(alone.findings))
