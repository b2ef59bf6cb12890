"""Variants of one product for several CUDA majors: which change, where, and what holds them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from stackfix.plan.lock_state import lock_state
from stackfix.plan.plan import Move, Plan, Status, VariantChange
from stackfix.plan.problems.project import project_problem
from stackfix.plan.problems.variants import variant_problems
from stackfix.plan.request import Request, Strategy
from stackfix.solve.terms import StackRequirement
from stackfix_lockfiles.project import Project
from tests.registry.server import Index
from tests.resolver.making import graph, target
from tests.resolver.plan.mirrored import locked, on_index, plan_on
from tests.resolver.plan.planning import apply, holds, moved, plan_for

pytestmark = pytest.mark.usefixtures("facts_index")

OLD = "A100@535.183.01"
"""A driver of CUDA 12."""
NEW = "H100@580.82.07"


def files(plan: Plan) -> dict[str, Any]:
    """The new pyproject files, parsed."""
    return {
        str(path): tomllib.loads(data.decode())
        for path, data in plan.files.items()
        if path.name == "pyproject.toml"
    }


def variant_of(plan: Plan, package: str) -> Move:
    return next(move for move in plan.moves if move.package == package)


@pytest.mark.parametrize("dependency", ["jax[cuda13]==0.8.0", "jax[cuda13]>=0.8", "cupy-cuda13x"])
def test_a_swap_holds_whatever_the_user_does_next(
    facts_index: Index, tmp_path: Path, dependency: str
) -> None:
    project = locked(facts_index, tmp_path / "p", dependency)
    plan = plan_for(project, OLD)
    assert plan.status is Status.PLANNED
    assert holds(project, plan, OLD)


def test_a_move_tells_the_variants_and_their_reason(facts_index: Index, tmp_path: Path) -> None:
    plan = plan_for(locked(facts_index, tmp_path / "p", "jax[cuda13]==0.8.0"), OLD)
    move = variant_of(plan, "jax")
    assert move.variant == VariantChange(before="jax[cuda13]", after="jax[cuda12]")
    assert (move.before, move.after, move.dragged, move.fork) == ("0.8.0", "0.8.0", False, None)
    assert move.because.startswith("SF201: jax-cuda13-")
    (edit,) = move.edits
    assert edit.why == "jax[cuda13] → jax[cuda12]: this plan's CUDA major is 12"
    assert plan.edits == (edit,)


def test_a_name_that_takes_the_place_of_another_keeps_the_version(
    facts_index: Index, tmp_path: Path
) -> None:
    plan = plan_for(locked(facts_index, tmp_path / "p", "cupy-cuda13x==13.6.0"), OLD)
    old, new = variant_of(plan, "cupy-cuda13x"), variant_of(plan, "cupy-cuda12x")
    assert old.variant == new.variant == VariantChange(before="cupy-cuda13x", after="cupy-cuda12x")
    assert (old.before, old.after) == ("13.6.0", None)
    assert (new.before, new.after) == (None, "13.6.0")


def test_name_and_version_change_in_one_edit(facts_index: Index, tmp_path: Path) -> None:
    plan = plan_for(locked(facts_index, tmp_path / "p", "cupy_cuda13x == 14.0.0"), OLD)
    assert [(edit.old, edit.new) for edit in plan.edits] == [
        ("cupy_cuda13x == 14.0.0", "cupy_cuda12x == 14.0.1")
    ]


WORKSPACE = """
[project.optional-dependencies]
more = ["jax[cuda13, k8s]>=0.8"]
[dependency-groups]
dev = [
    "JAX[cuda13]",  # for the tests
]
docs = ["jax[cuda13_local] ; sys_platform == 'win32'"]
other = ["jax[cuda13] ; sys_platform == 'win32'"]
[tool.uv.workspace]
members = ["member"]
[tool.uv.sources]
member = { workspace = true }
"""
MEMBER = """
[project]
name = "member"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["jax[cuda13]>=0.7.2"]
"""


def test_every_place_that_names_the_variant_is_edited_and_nothing_else(
    facts_index: Index, tmp_path: Path
) -> None:
    member = tmp_path / "p" / "member"
    (tmp_path / "p").mkdir()
    member.mkdir()
    (member / "pyproject.toml").write_text(MEMBER)
    root = tmp_path / "p" / "pyproject.toml"
    root.write_text(
        '[project]\nname = "made"\nversion = "0.1.0"\nrequires-python = ">=3.11"\n'
        f'dependencies = ["jax[cuda13]==0.8.0", "member"]\n{WORKSPACE}'
    )
    from tests.resolver.plan.planning import run_uv

    run_uv(root.parent, "lock")
    before = root.read_text()
    plan = plan_on(facts_index, root.parent, OLD)
    assert plan.status is Status.PLANNED
    apply(plan)
    after = root.read_text()
    assert after == (
        before.replace('"jax[cuda13]==0.8.0"', '"jax[cuda12]==0.8.0"')
        .replace('"jax[cuda13, k8s]>=0.8"', '"jax[cuda12, k8s]>=0.8"')
        .replace('"JAX[cuda13]"', '"JAX[cuda12]"')
    )
    assert (member / "pyproject.toml").read_text() == MEMBER.replace("cuda13", "cuda12")


def test_a_project_that_offers_both_variants_is_told_to_choose(
    facts_index: Index, tmp_path: Path
) -> None:
    extras = (
        '[project.optional-dependencies]\ncuda12 = ["jax[cuda12]"]\ncuda13 = ["jax[cuda13]"]\n'
        '[tool.uv]\nconflicts = [[{ extra = "cuda12" }, { extra = "cuda13" }]]\n'
    )
    project = locked(facts_index, tmp_path / "p", "jax==0.8.0", extra=extras)
    plan = plan_for(project, OLD, extras=("cuda13",))
    assert plan.status is Status.IMPOSSIBLE
    assert any(
        "the project offers jax[cuda12] in its extra cuda12" in obstacle.reason
        for obstacle in plan.obstacles
    )
    assert plan_for(project, OLD, extras=("cuda12",)).status is Status.NOTHING_TO_DO


def test_an_extra_that_excludes_others_changes_alone(facts_index: Index, tmp_path: Path) -> None:
    extras = (
        '[project.optional-dependencies]\nhere = ["jax[cuda13]"]\nthere = ["jax[cuda13]", "six"]\n'
        '[tool.uv]\nconflicts = [[{ extra = "here" }, { extra = "there" }]]\n'
    )
    project = locked(facts_index, tmp_path / "p", "jax==0.8.0", extra=extras)
    plan = plan_for(project, OLD, extras=("here",))
    assert plan.status is Status.PLANNED
    asked = files(plan)["pyproject.toml"]["project"]["optional-dependencies"]
    assert asked == {"here": ["jax[cuda12]"], "there": ["jax[cuda13]", "six"]}


def test_what_another_package_needs_holds(facts_index: Index, tmp_path: Path) -> None:
    project = locked(facts_index, tmp_path / "p", "jax[cuda13]==0.8.0", "cupy-cuda13x==13.6.0")
    request = Request(project=Project.find(project), graph=graph(), targets=(target(OLD),))
    before = lock_state(request.project.read_lock(), request)
    needs = StackRequirement.of(Requirement("jax[cuda13]"), "helper 1.0")
    problem = project_problem(request, before, needs)
    found = variant_problems(request, before, problem, needs)
    swaps = {swap.cuda: str(swap) for one in found.swapped if (swap := one.variant_swap)}
    assert swaps[12] == "cupy-cuda12x for cupy-cuda13x"
    (excluded,) = found.exclusions
    assert excluded.reason == (
        "jax[cuda12] cannot take the place of jax[cuda13]: helper 1.0 needs jax[cuda13]"
    )


def test_what_the_user_keeps_holds(facts_index: Index, tmp_path: Path) -> None:
    project = locked(facts_index, tmp_path / "p", "jax[cuda13]==0.8.0")
    plan = plan_for(project, OLD, keep=("jax",))
    assert plan.status is Status.IMPOSSIBLE
    assert any("jax stays as it is (--keep)" in o.reason for o in plan.obstacles)


@pytest.mark.parametrize("strategy", list(Strategy))
def test_every_strategy_may_swap_what_cannot_run(
    facts_index: Index, tmp_path: Path, strategy: Strategy
) -> None:
    project = locked(facts_index, tmp_path / "p", "jax[cuda13]==0.8.0")
    plan = plan_for(project, OLD, strategy=strategy)
    (edit,) = [edit for edit in plan.edits if (edit.old or "").startswith("jax")]
    assert (edit.new or "").startswith("jax[cuda12]==")
    assert (edit.new == "jax[cuda12]==0.8.0") is (strategy is not Strategy.NEWEST)


def test_the_newest_versions_keep_the_declared_variant(facts_index: Index, tmp_path: Path) -> None:
    project = locked(facts_index, tmp_path / "p", "jax[cuda12]==0.8.0")
    plan = plan_for(project, NEW, strategy=Strategy.NEWEST)
    assert plan.status is Status.PLANNED
    assert all((edit.new or "").startswith("jax[cuda12]==") for edit in plan.edits)


def test_the_user_can_ask_for_a_variant(facts_index: Index, tmp_path: Path) -> None:
    project = locked(facts_index, tmp_path / "p", "jax[cuda12]==0.8.0")
    plan = plan_for(project, NEW, require=("jax[cuda13]",))
    assert {edit.new for edit in plan.edits} == {"jax[cuda13]==0.8.0"}
    assert variant_of(plan, "jax").because == "--require asks for it"
    kept = plan_for(project, NEW, require=("jax[cuda12]",))
    assert not kept.edits


def test_a_required_variant_that_cannot_run_is_no_plan(facts_index: Index, tmp_path: Path) -> None:
    project = locked(facts_index, tmp_path / "p", "jax[cuda12]==0.8.0")
    plan = plan_for(project, OLD, require=("jax[cuda13]",))
    assert plan.status is Status.IMPOSSIBLE
    assert any("with jax[cuda13] for jax[cuda12]: " in o.reason for o in plan.obstacles)


SOURCE = {
    "a key": ('nvidia-cudnn-cu12 = { index = "own" }\n', ""),
    "a section of its own": ("", '[tool.uv.sources.nvidia-cudnn-cu12]\nindex = "own"\n'),
}


@pytest.mark.parametrize("layout", list(SOURCE))
def test_the_index_of_the_old_name_is_that_of_the_new_one(
    facts_index: Index, tmp_path: Path, layout: str
) -> None:
    key, section = SOURCE[layout]
    head, _, rest = on_index("cu132", "torch").partition("[[")
    own = f'[[tool.uv.index]]\nname = "own"\nurl = "{facts_index.url}"\nexplicit = true\n'
    extra = f"{head}{key}[[{rest}{own}{section}"
    project = locked(facts_index, tmp_path / "p", "torch==2.12.1", "nvidia-cudnn-cu12", extra=extra)
    plan = plan_on(facts_index, project, NEW)
    assert plan.status is Status.PLANNED
    document = files(plan)["pyproject.toml"]
    assert document["project"]["dependencies"] == ["torch==2.12.1", "nvidia-cudnn-cu13"]
    sources = document["tool"]["uv"]["sources"]
    assert sources["nvidia-cudnn-cu13"] == {"index": "own"}
    assert ("nvidia-cudnn-cu12" in sources) is (layout != "a key")


def test_why_a_variant_gives_way(facts_index: Index, tmp_path: Path) -> None:
    project = locked(facts_index, tmp_path / "p", "jax[cuda13]==0.8.0")
    (answer,) = plan_for(project, OLD, why=("jax",)).answers
    assert answer.lines[0].startswith("jax[cuda13] → jax[cuda12]: SF201: jax-cuda13-")
    assert answer.lines[1] == "why not jax[cuda13]:"
    assert "needs driver 580.65.06 or newer" in answer.obstacles[0].reason


@pytest.mark.slow(reason="several plans, each with its locks")
def test_why_a_variant_gives_way_that_could_stay(facts_index: Index, tmp_path: Path) -> None:
    project = locked(facts_index, tmp_path / "p", "torch==2.12.0", "jax[cuda12]==0.8.0")
    (answer,) = plan_for(project, NEW, why=("jax",)).answers
    assert answer.lines[0].startswith("jax[cuda12] → jax[cuda13]: SF302: nvidia-cudnn-cu12")
    assert answer.lines[1:] == (
        "jax[cuda12] can stay where more else moves: stackfix plan --keep jax",
    )
    assert not answer.obstacles


@pytest.mark.parametrize("requirement", ["jax[cuda13]==0.8.0", "cupy-cuda13x==13.6.0"])
def test_why_not_a_variant(facts_index: Index, tmp_path: Path, requirement: str) -> None:
    project = locked(facts_index, tmp_path / "p", "jax[cuda12]==0.8.0", "cupy-cuda12x==13.6.0")
    plan = plan_for(project, OLD, why_not=(requirement,))
    (answer,) = plan.answers
    assert "CUDA 13" in answer.obstacles[0].reason


def test_a_fleet_is_told_what_each_card_would_need(facts_index: Index, tmp_path: Path) -> None:
    project = locked(facts_index, tmp_path / "p", "jax[cuda13]==0.8.0")
    plan = plan_for(project, OLD, NEW)
    assert moved(plan)["jax-cuda12-plugin"] == "0.8.0"
