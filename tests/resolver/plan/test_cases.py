"""Small projects, each with one thing that has to be right; the recorded index serves them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.plan.plan import Status
from stackfix.rules.judge import errors
from tests.registry.server import Index
from tests.resolver.plan.planning import apply, holds, locked, moved, plan_for, project_of

pytestmark = pytest.mark.usefixtures("shared_index")


def test_a_v100_goes_down_to_the_last_torch_that_carries_7_0(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torch>=2.12,<2.13", "torchvision")
    plan = plan_for(project, "V100@535.183.01")
    assert moved(plan)["torch"] == "2.10.0"
    assert holds(project, plan, "V100@535.183.01")


def test_a_t4_under_torch_2_12_is_partial_because_of_its_linear_algebra(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torch==2.12.0")
    plan = plan_for(project, "T4@580.82.07")
    (fault,) = errors(plan.findings)
    assert (fault.code, fault.package) == ("SF103", "torch")
    assert "libtorch_cuda_linalg.so 0 native" in fault.message
    assert moved(plan)["torch"] == "2.10.0"


def test_an_old_driver_takes_a_cuda_13_lock_to_cuda_12(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torch>=2.9")
    plan = plan_for(project, "H100@535.183.01")
    assert {f.code for f in errors(plan.findings)} == {"SF201"}
    assert moved(plan)["torch"] == "2.10.0"
    assert holds(project, plan, "H100@535.183.01")


@pytest.mark.slow(reason="several plans, each with its locks")
def test_torch_with_cuda_13_beside_jax_with_cuda_12(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torch==2.12.0", "jax[cuda12]==0.7.2")
    plan = plan_for(project, "H100@580.82.07")
    assert {f.code for f in errors(plan.findings)} == {"SF302"}
    assert plan.status is Status.PLANNED
    assert "torch" not in moved(plan)
    assert {edit.new for edit in plan.edits} == {"jax[cuda13]==0.7.2"}
    assert moved(plan)["nvidia-cudnn-cu12"] is None
    assert holds(project, plan, "H100@580.82.07")


def test_jax_that_is_kept_takes_torch_down_to_its_cuda(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torch==2.12.0", "jax[cuda12]==0.7.2")
    plan = plan_for(project, "H100@580.82.07", keep=("jax",))
    assert moved(plan)["torch"] == "2.10.0"
    assert moved(plan)["nvidia-cudnn-cu13"] is None
    assert holds(project, plan, "H100@580.82.07", keep=("jax",))


def test_one_plan_for_a_fleet_of_new_and_old_cards(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torch==2.7.1")
    cards = ("RTX 5090@570.133.07", "V100@570.133.07")
    plan = plan_for(project, *cards)
    assert moved(plan)["torch"] == "2.8.0"
    assert holds(project, plan, *cards)


def test_a_fleet_that_no_lock_serves_is_told_what_each_card_alone_would_need(
    tmp_path: Path,
) -> None:
    project = locked(tmp_path / "p", "torch==2.7.1")
    plan = plan_for(project, "RTX 5090@570.133.07", "GTX 1080 Ti@570.133.07", strategy="same-index")
    assert plan.status is Status.IMPOSSIBLE
    assert "RTX 5090 alone: torch 2.7.1 → 2.8.0" in plan.ways_out
    assert "GTX 1080 Ti alone: nothing has to move" in plan.ways_out
    assert {"2.7.1", "2.8.0"} <= {v for o in plan.obstacles for v in o.versions}


def test_nothing_that_uses_the_gpu(tmp_path: Path) -> None:
    plan = plan_for(locked(tmp_path / "p", "numpy"), "RTX 5090")
    assert plan.status is Status.NOTHING_TO_DO
    assert plan.gpu_packages == 0
    assert "nothing here uses the GPU" in plan.warnings[0]


def test_a_project_without_a_lock_is_locked_in_the_copy_first(tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1")
    plan = plan_for(project, "RTX 5090")
    assert moved(plan)["torch"] == "2.8.0"
    assert not (project / "uv.lock").exists()
    apply(plan)
    assert plan_for(project, "RTX 5090").status is Status.NOTHING_TO_DO


def test_a_range_that_admits_what_the_driver_cannot_run_gets_an_upper_bound(
    tmp_path: Path,
) -> None:
    project = locked(tmp_path / "p", "torch>=2.6", extra=PIN.format("torch==2.7.1"))
    (project / "pyproject.toml").write_text(
        (project / "pyproject.toml").read_text().replace(PIN.format("torch==2.7.1"), "")
    )
    plan = plan_for(project, "RTX 5090@570.133.07")
    assert [e.new for e in plan.edits] == ["torch>=2.6,<2.11"]
    assert holds(project, plan, "RTX 5090@570.133.07")


PIN = '[tool.uv]\nconstraint-dependencies = ["{}"]\n'


def test_a_version_that_a_constraint_excludes_is_not_chosen(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torch==2.7.1", extra=PIN.format("torch!=2.8.0"))
    assert moved(plan_for(project, "RTX 5090@570.133.07"))["torch"] == "2.9.0"


def test_several_wishes_about_one_package_all_count(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torch==2.7.1")
    plan = plan_for(project, "RTX 5090@570.133.07", require=("torch!=2.8.0", "torch!=2.9.0"))
    assert moved(plan)["torch"] == "2.9.1"


def test_a_finding_that_the_project_ignores_moves_nothing(tmp_path: Path) -> None:
    accepted = '[[tool.stackfix.ignore]]\ncode = "SF103"\npackage = "torch"\nreason = "no linalg"\n'
    project = locked(tmp_path / "p", "torch==2.12.0", extra=accepted)
    assert plan_for(project, "T4@580.82.07").status is Status.NOTHING_TO_DO


def test_a_next_step_clears_the_warning_when_it_is_taken(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "jax[cuda12]==0.5.3")
    plan = plan_for(project, "RTX 5090@570.133.07")
    assert plan.next_step is not None
    assert plan.next_step.possible
    version = plan.next_step.offer.rpartition(" ")[2]
    step = plan_for(project, "RTX 5090@570.133.07", require=(f"jax=={version}",))
    assert moved(step)["jax"] == version
    jit = [f for f in step.remaining if f.code == "SF102" and f.package.startswith("jax")]
    assert not jit


def test_the_server_is_the_only_index(shared_index: Index) -> None:
    assert shared_index.url.startswith("http://127.0.0.1:")
