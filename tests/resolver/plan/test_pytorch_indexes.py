"""Projects on PyTorch's own indexes, and projects that need a build from there.

What those indexes serve here is derived from locks and documents (tests/registry/derive.py).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.plan.plan import Plan, Status
from stackfix.plan.request import Strategy
from stackfix.rules.judge import errors
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.uv import Uv
from tests.registry.server import Index
from tests.resolver.plan.mirrored import conflicting, locked, on_index, plan_on
from tests.resolver.plan.planning import apply, moved


def codes(plan: Plan) -> set[str]:
    return {finding.code for finding in errors(plan.findings)}


def torches(project: Path) -> set[str | None]:
    return {package.version for package in Lock.read(project / "uv.lock").named("torch")}


def holds(index: Index, project: Path, plan: Plan, card: str, **options: object) -> bool:
    """Whether the applied plan is sound, to uv too, and stays so after an upgrade."""
    apply(plan)
    for command in (["lock", "--check"], ["lock", "--upgrade"]):
        finished = Uv.find().run(command, cwd=project, timeout=120)
        assert finished.returncode == 0, finished.stderr
    return plan_on(index, project, card, **options).status is Status.NOTHING_TO_DO


@pytest.mark.parametrize(
    ("home", "card", "other"),
    [
        ("cu128", "P100@570.133.20", "cu126"),
        ("cu128", "GTX 1080 Ti@535.183.01", "cu126"),
    ],
)
def test_a_project_on_one_index_keeps_its_version_and_changes_index(
    shared_index: Index, tmp_path: Path, home: str, card: str, other: str
) -> None:
    lines = on_index(home, "torch", "torchvision")
    project = locked(shared_index, tmp_path / "p", "torch==2.8.0", "torchvision", extra=lines)
    plan = plan_on(shared_index, project, card)
    assert moved(plan)["torch"] == f"2.8.0+{other}"
    assert moved(plan)["torchvision"] == f"0.23.0+{other}"
    assert {move.index for move in plan.moves if move.package == "torch"} == {
        f"{shared_index.whl}{other}"
    }
    assert f'url = "{shared_index.whl}{other}"' in plan.diff
    assert holds(shared_index, project, plan, card)


def test_a_cpu_index_is_named_as_what_it_is(shared_index: Index, tmp_path: Path) -> None:
    project = locked(shared_index, tmp_path / "p", "torch==2.8.0", extra=on_index("cpu", "torch"))
    assert codes(plan_on(shared_index, project, "H100@550.90.07")) == {"SF105"}


def test_a_cpu_index_is_told_by_its_address_where_versions_have_no_local_part(
    shared_index: Index, tmp_path: Path
) -> None:
    project = locked(shared_index, tmp_path / "p", "torch==2.2.1", extra=on_index("cpu", "torch"))
    plan = plan_on(shared_index, project, "GH200@570.133.20", python="3.11")
    assert {f.version for f in errors(plan.findings)} == {"2.2.1"}
    assert codes(plan) == {"SF105"}


@pytest.mark.parametrize(
    ("extra", "card", "after"),
    [
        ("cu126", "RTX 5090@580.82.07", "2.8.0+cu128"),
        ("cu128", "GTX 1080 Ti@570.133.07", "2.8.0+cu126"),
    ],
)
def test_of_extras_in_conflict_only_the_chosen_one_moves(
    shared_index: Index, tmp_path: Path, extra: str, card: str, after: str
) -> None:
    lines = conflicting("cpu", "cu126", "cu128")
    project = locked(shared_index, tmp_path / "p", "numpy", extra=lines)
    plan = plan_on(shared_index, project, card, extras=(extra,))
    assert plan.status is Status.PLANNED
    assert holds(shared_index, project, plan, card, extras=(extra,))
    assert torches(project) == {"2.8.0", "2.8.0+cpu", after}  # 2.8.0: macOS has no other
    other = "cu128" if extra == "cu126" else "cu126"
    assert 'index = "pytorch-cpu", extra = "cpu"' in (project / "pyproject.toml").read_text()
    assert (
        f'index = "pytorch-{other}", extra = "{other}"' in (project / "pyproject.toml").read_text()
    )


def test_an_extra_that_suits_the_card_has_nothing_to_do(
    shared_index: Index, tmp_path: Path
) -> None:
    project = locked(shared_index, tmp_path / "p", "numpy", extra=conflicting("cu126", "cu128"))
    plan = plan_on(shared_index, project, "RTX 5090@580.82.07", extras=("cu128",))
    assert plan.status is Status.NOTHING_TO_DO


def test_a_v100_keeps_torch_2_12_on_the_index_that_still_builds_for_it(
    shared_index: Index, tmp_path: Path
) -> None:
    project = locked(shared_index, tmp_path / "p", "torch==2.12.0")
    plan = plan_on(shared_index, project, "V100@570.133.20", require=("torch==2.12.0",))
    assert moved(plan)["torch"] == "2.12.0+cu126"
    assert holds(shared_index, project, plan, "V100@570.133.20")


def test_same_index_never_adds_one(shared_index: Index, tmp_path: Path) -> None:
    project = locked(shared_index, tmp_path / "p", "torch==2.12.0")
    plan = plan_on(
        shared_index,
        project,
        "V100@570.133.20",
        require=("torch==2.12.0",),
        strategy=Strategy.SAME_INDEX,
    )
    assert plan.status is Status.IMPOSSIBLE
    assert not plan.edits
    assert all("+" not in version for o in plan.obstacles for version in o.versions)


def test_a_transitive_torch_gets_a_constraint_so_that_its_source_counts(
    shared_index: Index, tmp_path: Path
) -> None:
    project = locked(shared_index, tmp_path / "p", "torchvision==0.27.0")
    plan = plan_on(shared_index, project, "V100@570.133.20", require=("torch==2.12.0",))
    assert moved(plan)["torch"] == "2.12.0+cu126"
    assert any(e.table.endswith("constraint-dependencies") for e in plan.edits)
    assert holds(shared_index, project, plan, "V100@570.133.20")


@pytest.mark.parametrize(
    ("torch", "card", "after"),
    [
        ("2.7.1", "V100@470.161.03", "2.7.1+cu118"),
        ("2.12.0", "A100@525.60.13", "2.12.0+cu126"),
        ("2.12.0", "A100@535.183.01", "2.12.0+cu126"),
        ("2.12.0", "H100@550.90.07", "2.12.0+cu126"),
    ],
)
def test_old_drivers_take_the_builds_of_an_older_cuda(
    shared_index: Index, tmp_path: Path, torch: str, card: str, after: str
) -> None:
    project = locked(shared_index, tmp_path / "p", f"torch=={torch}")
    plan = plan_on(shared_index, project, card)
    assert "SF201" in codes(plan)
    assert moved(plan)["torch"] == after
    assert holds(shared_index, project, plan, card)


@pytest.mark.parametrize(
    ("torch", "card", "cuda"),
    [
        ("2.8.0", "GB10@580.95.05", "13"),
        ("2.7.1", "GH200@570.133.20", "12"),
        ("2.9.1", "GH200@570.133.20", "12"),
    ],
)
def test_aarch64_takes_a_build_with_cuda(
    shared_index: Index, tmp_path: Path, torch: str, card: str, cuda: str
) -> None:
    project = locked(shared_index, tmp_path / "p", f"torch=={torch}")
    plan = plan_on(shared_index, project, card)
    assert codes(plan) == {"SF105"}
    after = plan.selection.platforms
    assert after == ("linux_aarch64",)
    assert any(m.package == "torch" for m in plan.moves)
    assert any(m.after and m.package == f"nvidia-cudnn-cu{cuda}" for m in plan.moves) or moved(
        plan
    )["torch"].endswith(("+cu126", "+cu128"))  # type: ignore[union-attr]
    assert holds(shared_index, project, plan, card)


def test_an_index_that_nobody_measured_is_left_alone_and_said_so(
    shared_index: Index, tmp_path: Path
) -> None:
    project = locked(shared_index, tmp_path / "p", "torch==2.8.0", extra=on_index("cu126", "torch"))
    for name in ("pyproject.toml", "uv.lock"):
        text = (project / name).read_text()
        text = text.replace(f"{shared_index.whl}cu126", "https://jetson.example/simple")
        (project / name).write_text(text)
    plan = plan_on(shared_index, project, "RTX 5090@580.82.07")
    assert plan.status is Status.IMPOSSIBLE
    assert any("locked from https://jetson.example/simple" in o.reason for o in plan.obstacles)


def test_what_everyone_has_changes_its_index_for_everyone(
    shared_index: Index, tmp_path: Path
) -> None:
    extras = (
        '[project.optional-dependencies]\nold = ["six<1.16"]\nnew = ["six"]\n'
        '[tool.uv]\nconflicts = [[{ extra = "old" }, { extra = "new" }]]\n'
    )
    project = locked(shared_index, tmp_path / "p", "torch==2.7.1", extra=extras)
    card = "RTX 5090@570.133.07"
    plan = plan_on(shared_index, project, card, extras=("new",))
    assert moved(plan)["torch"] == "2.7.1+cu128"
    assert [edit.new for edit in plan.edits if edit.package] == ['{ index = "pytorch-cu128" }']
    assert holds(shared_index, project, plan, card, extras=("new",))
