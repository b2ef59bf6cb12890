"""A move holds wherever the project says what it needs: nothing that uv does next undoes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.plan.plan import Status
from tests.resolver.plan.planning import apply, holds, locked, moved, plan_for, project_of, run_uv

pytestmark = pytest.mark.usefixtures("shared_index")

BLACKWELL = "RTX 5090@570.133.07"
OPEN = pytest.param(True, marks=pytest.mark.slow(reason="the same place, with a range"))
PLACES = {
    "an extra": '[project.optional-dependencies]\ngpu = ["torch{}"]\n',
    "a group": '[dependency-groups]\ngpu = ["torch{}"]\n',
    "a group that another includes": '[dependency-groups]\nbase = ["torch{}"]\n'
    'gpu = [{{ include-group = "base" }}]\n',
    "the old place for development": '[tool.uv]\ndev-dependencies = ["torch{}"]\n',
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("open_range", [False, OPEN], ids=["exact", "open"])
def test_wherever_a_requirement_stands(tmp_path: Path, place: str, open_range: bool) -> None:
    project = locked(tmp_path / "p", extra=PLACES[place].format("==2.7.1"))
    if open_range:
        file = project / "pyproject.toml"
        file.write_text(file.read_text().replace("==2.7.1", ">=2.6"))
    extras = ("gpu",) if place == "an extra" else ()
    groups = ("gpu",) if "group" in place else ()
    plan = plan_for(project, BLACKWELL, extras=extras, groups=groups)
    assert plan.status is Status.PLANNED, plan.obstacles
    assert moved(plan)["torch"] == "2.8.0"
    assert holds(project, plan, BLACKWELL, extras=extras, groups=groups)


def test_only_another_package_needs_torch(tmp_path: Path) -> None:
    project = locked(tmp_path / "p", "torchvision==0.22.1")
    file = project / "pyproject.toml"
    file.write_text(file.read_text().replace("==0.22.1", ""))
    plan = plan_for(project, BLACKWELL)
    assert moved(plan)["torch"] == "2.8.0"
    assert holds(project, plan, BLACKWELL)


def test_a_member_of_a_workspace_names_torch(tmp_path: Path) -> None:
    project = project_of(
        tmp_path / "p",
        "member",
        extra='[tool.uv.workspace]\nmembers = ["member"]\n'
        "[tool.uv.sources]\nmember = { workspace = true }\n",
    )
    member = project_of(project / "member", "torch==2.7.1") / "pyproject.toml"
    member.write_text(member.read_text().replace('"made"', '"member"'))
    run_uv(project, "lock")
    plan = plan_for(project, BLACKWELL)
    assert [str(edit.file) for edit in plan.edits] == ["member/pyproject.toml"]
    assert holds(project, plan, BLACKWELL)


def test_a_constraint_holds_torch_back(tmp_path: Path) -> None:
    limits = '[tool.uv]\nconstraint-dependencies = ["torch<2.8"]\n'
    project = locked(tmp_path / "p", "torch>=2.7", extra=limits)
    plan = plan_for(project, BLACKWELL)
    assert moved(plan)["torch"] == "2.8.0"
    assert holds(project, plan, BLACKWELL)


def test_an_override_holds_cudnn_back(tmp_path: Path) -> None:
    limits = '[tool.uv]\noverride-dependencies = ["nvidia-cudnn-cu12==9.5.1.17"]\n'
    project = locked(tmp_path / "p", "torch==2.7.1", extra=limits)
    plan = plan_for(project, BLACKWELL)
    assert moved(plan)["nvidia-cudnn-cu12"] == "9.10.2.21"
    assert holds(project, plan, BLACKWELL)


def test_settings_stand_in_a_uv_toml(tmp_path: Path) -> None:
    project = project_of(tmp_path / "p", "torch==2.7.1")
    (project / "uv.toml").write_text('prerelease = "disallow"\n')
    run_uv(project, "lock")
    plan = plan_for(project, BLACKWELL)
    assert moved(plan)["torch"] == "2.8.0"
    assert holds(project, plan, BLACKWELL)


@pytest.mark.parametrize(
    "wish",
    [{"strategy": "newest"}, {"require": ("torch>=2.7",)}, {"require": ("torch<2.12",)}],
    ids=str,
)
def test_what_is_as_was_asked_for_is_nothing_to_do(tmp_path: Path, wish: dict[str, object]) -> None:
    project = locked(tmp_path / "p", "torch==2.7.1")
    for _ in range(3):
        plan = plan_for(project, BLACKWELL, **wish)
        if plan.status is not Status.PLANNED:
            break
        assert plan.moves or plan.edits
        apply(plan)
    assert (plan.status, plan.moves) == (Status.NOTHING_TO_DO, ())
