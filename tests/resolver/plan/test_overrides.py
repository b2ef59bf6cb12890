"""Overrides: a last resort, asked for, within a major, and labelled as what they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from stackfix.plan.plan import Status
from stackfix.solve.specifier import within_major
from tests.resolver.plan.planning import apply, moved, plan_for, project_of
from tests.resolver.plan.test_cases import holds, locked

pytestmark = pytest.mark.usefixtures("shared_index")

CARDS = "RTX 5090:4@570.133.07"
NEWER = ("nvidia-nccl-cu12>=2.29.2",)


def test_a_newer_nccl_than_torch_pins_needs_leave(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torch==2.8.0")
    assert plan_for(project, CARDS, require=NEWER, keep=("torch",)).status is Status.IMPOSSIBLE


def test_with_leave_only_the_library_in_question_is_overridden(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torch==2.8.0")
    plan = plan_for(project, CARDS, require=NEWER, keep=("torch",), allow_override=True)
    assert moved(plan) == {"nvidia-nccl-cu12": "2.29.2"}
    (edit,) = plan.edits
    assert (edit.table, edit.new) == ("tool.uv.override-dependencies", "nvidia-nccl-cu12==2.29.2")
    apply(plan)
    written = (project / "pyproject.toml").read_text(encoding="utf-8")
    assert "torch 2.8.0 was tested with nvidia-nccl-cu12==2.27.3" in written
    assert "take this out when torch moves" in written


def test_an_override_holds_through_an_upgrade(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torch==2.8.0")
    plan = plan_for(project, CARDS, require=NEWER, keep=("torch",), allow_override=True)
    assert holds(project, plan, CARDS)


def test_leave_alone_overrides_nothing(tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1")
    plan = plan_for(project, CARDS, allow_override=True)
    assert [e.table for e in plan.edits] == ["project.dependencies"]


@pytest.mark.parametrize(
    ("pin", "range_"),
    [("==2.27.3", ">=2,<3"), ("==9.10.2.21", ">=9,<10"), (">=2.18", None), ("==9.*", None)],
)
def test_only_exact_pins_give_way_and_only_within_their_major(pin: str, range_: str | None) -> None:
    expected = SpecifierSet(range_) if range_ else None
    assert within_major(SpecifierSet(pin)) == expected
