"""openpi on four RTX 5090: the whole main job, against the recorded index."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.model.finding import Severity
from stackfix.plan.plan import Plan, Status
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.transaction import ProjectChanged
from stackfix_lockfiles.uv import Uv
from tests.resolver.plan.planning import apply, moved, plan_for

CARDS = "RTX 5090:4@570.133.07"


@pytest.fixture(scope="module")
def plan(openpi_template: Path) -> Plan:
    return plan_for(openpi_template, CARDS)


def codes(plan: Plan, package: str) -> set[tuple[str, str]]:
    return {(f.code, f.severity.value) for f in plan.findings if f.package == package}


def test_what_is_wrong(plan: Plan) -> None:
    assert ("SF101", "error") in codes(plan, "torch")
    assert {("SF103", "error"), ("SF104", "warning")} <= codes(plan, "nvidia-cudnn-cu12")
    assert {("SF102", "warning"), ("SF401", "warning")} <= codes(plan, "nvidia-nccl-cu12")
    assert ("SF102", "warning") in codes(plan, "jax-cuda12-plugin")


def test_the_stack_moves_together_and_nothing_else_does(plan: Plan) -> None:
    assert plan.status is Status.PLANNED
    found = moved(plan)
    assert found["torch"] == "2.8.0"
    assert found["torchvision"] == "0.23.0"
    assert found["triton"] == "3.4.0"
    assert found["nvidia-cudnn-cu12"] == "9.10.2.21"
    assert found["nvidia-nccl-cu12"] == "2.27.3"
    assert found["torchcodec"] in {"0.6.0", "0.7.0"}
    assert not found.keys() & {"jax", "jaxlib", "flax", "numpy", "ml-dtypes", "transformers"}
    graph_names = {name for name in found if not name.startswith("nvidia-")}
    assert graph_names == {"torch", "torchvision", "torchcodec", "triton"}
    assert all(move.because for move in plan.moves)


def test_no_superseded_library_is_left_in_any_fork(plan: Plan) -> None:
    lock = Lock.parse(plan.files[next(path for path in plan.files if path.name == "uv.lock")])
    for name in ("nvidia-cudnn-cu12", "nvidia-nccl-cu12"):
        assert len(lock.named(name)) == 1


def test_no_error_stays_and_jax_keeps_its_warning(plan: Plan) -> None:
    assert not [f for f in plan.remaining if f.severity is Severity.ERROR]
    assert any(f.code == "SF102" and f.package == "jax-cuda12-plugin" for f in plan.remaining)


def test_the_next_step_is_refused_with_its_reason(plan: Plan) -> None:
    assert plan.next_step is not None
    assert not plan.next_step.possible
    assert plan.next_step.offer.startswith("jax 0.5.3 → 0.6")
    assert "ml-dtypes==0.4.1" in plan.next_step.reason


def test_the_edits_are_the_pin_and_the_bound_that_an_upgrade_needs(plan: Plan) -> None:
    edits = {(edit.old, edit.new) for edit in plan.edits}
    assert edits == {("torch==2.7.1", "torch==2.8.0"), (None, "torchcodec<0.8")}


def test_nothing_of_the_project_is_touched_by_planning(openpi: Path) -> None:
    before = {path: path.read_bytes() for path in openpi.rglob("*") if path.is_file()}
    plan_for(openpi, CARDS)
    assert {path: path.read_bytes() for path in openpi.rglob("*") if path.is_file()} == before


def test_after_applying_there_is_nothing_to_do(openpi: Path) -> None:
    apply(plan_for(openpi, CARDS))
    again = plan_for(openpi, CARDS)
    assert again.status is Status.NOTHING_TO_DO
    assert not again.moves


def test_a_card_that_the_lock_supports_needs_nothing(openpi: Path) -> None:
    assert plan_for(openpi, "L4").status is Status.NOTHING_TO_DO


def test_a_driver_that_does_not_know_the_card_must_rise(openpi: Path) -> None:
    plan = plan_for(openpi, "RTX 5090:4@550.54.15")
    assert plan.status is Status.IMPOSSIBLE
    assert any(f.code == "SF202" for f in plan.findings)
    assert any("570" in way and "torch 2.7.1 → 2.8.0" in way for way in plan.ways_out)


def test_what_is_kept_stays_and_the_obstacle_says_so(openpi: Path) -> None:
    plan = plan_for(openpi, CARDS, keep=("torch",))
    assert plan.status is Status.IMPOSSIBLE
    assert [o.versions for o in plan.obstacles if o.package == "torch"] == [("2.7.1",)]


def test_an_overlay_that_changes_one_fact_flips_verdict_and_plan(
    openpi: Path, tmp_path: Path
) -> None:
    facts = tmp_path / "facts.toml"
    facts.write_text(
        """
package = "nvidia-cudnn-cu12"
[[release]]
version = "9.5.1.17"
[[release.wheel]]
platform = "linux_x86_64"
measured = 2026-11-30
file = "nvidia_cudnn_cu12-9.5.1.17-py3-none-manylinux_2_28_x86_64.whl"
[[release.wheel.library]]
name = "nvidia/cudnn/lib/libcudnn_engines_precompiled.so.9"
containers = { "sm_80 sm_90 sm_120" = 727 }
""",
        encoding="utf-8",
    )
    plan = plan_for(openpi, CARDS, overlays=(facts,))
    assert not any(code in {"SF101", "SF103"} for code, _ in codes(plan, "nvidia-cudnn-cu12"))
    assert plan.status is Status.PLANNED  # torch itself has no code for the card


def test_uv_accepts_the_written_lock(openpi: Path) -> None:
    apply(plan_for(openpi, CARDS))
    finished = Uv.find().run(["lock", "--check"], cwd=openpi, timeout=120)
    assert finished.returncode == 0, finished.stderr


def test_a_saved_project_that_changed_since_is_refused(openpi: Path) -> None:
    found = plan_for(openpi, CARDS)
    pyproject = openpi / "pyproject.toml"
    pyproject.write_text(pyproject.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")
    before = (openpi / "uv.lock").read_bytes()
    with pytest.raises(ProjectChanged):
        apply(found)
    assert (openpi / "uv.lock").read_bytes() == before
