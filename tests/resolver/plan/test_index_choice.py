"""Projects on one of PyTorch's indexes go back to the default index where that suffices."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from stackfix.plan.plan import Plan, Status
from stackfix.plan.problems.index_choice import index_choice
from stackfix.plan.request import Request
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from tests.registry.server import Index
from tests.resolver.making import target
from tests.resolver.plan.mirrored import conflicting, locked, mirrored, on_index, plan_on
from tests.resolver.plan.planning import moved
from tests.resolver.plan.test_pytorch_indexes import holds

CARD = "RTX 5090@580.82.07"


def settings(plan: Plan, file: str = "pyproject.toml") -> dict[str, object]:
    """`[tool.uv]` after the plan."""
    text = next(data for path, data in plan.files.items() if str(path) == file).decode()
    found = tomllib.loads(text).get("tool", {}).get("uv", {})
    assert isinstance(found, dict)
    return found


def origins(plan: Plan) -> dict[tuple[str, str | None], str | None]:
    """The index of each locked version of PyTorch's packages."""
    lock = Lock.parse(plan.files[next(path for path in plan.files if path.name == "uv.lock")])
    return {
        (package.name, package.version): package.source.index
        for package in lock.packages
        if package.name in {"torch", "torchvision"}
    }


@pytest.mark.parametrize("home", ["cu126", "cpu"])
def test_the_default_index_comes_before_a_new_one(
    shared_index: Index, tmp_path: Path, home: str
) -> None:
    lines = on_index(home, "torch", "torchvision")
    project = locked(shared_index, tmp_path / "p", "torch==2.8.0", "torchvision", extra=lines)
    plan = plan_on(shared_index, project, CARD)
    assert origins(plan) == {
        ("torch", "2.8.0"): shared_index.url,
        ("torchvision", "0.23.0"): shared_index.url,
    }
    assert settings(plan) == {}
    assert holds(shared_index, project, plan, CARD)


def test_a_build_without_its_cuda_runtime_gives_way_to_the_default_one(
    shared_index: Index, tmp_path: Path
) -> None:
    project = locked(shared_index, tmp_path / "p", "torch==2.6.0", extra=on_index("cu126", "torch"))
    plan = plan_on(shared_index, project, "A100@550.90.07")
    assert moved(plan)["torch"] == "2.6.0"
    (edit,) = [edit for edit in plan.edits if edit.package == "torch"]
    assert (edit.old, edit.new) == ('{ index = "pytorch-cu126" }', None)
    assert edit.why == "torch 2.6.0 comes from the default index"
    assert holds(shared_index, project, plan, "A100@550.90.07")


def test_what_others_use_stays(shared_index: Index, tmp_path: Path) -> None:
    lines = on_index("cu126", "torch", "torchaudio").replace(
        "torchaudio = {", "torchaudio = { marker = \"sys_platform == 'win32'\","
    )
    lines += "[tool.uv]\nenvironments = [\"sys_platform == 'linux'\"]\n"
    project = locked(shared_index, tmp_path / "p", "torch==2.8.0", extra=lines)
    plan = plan_on(shared_index, project, CARD)
    assert moved(plan)["torch"] == "2.8.0"
    left = settings(plan)
    assert set(left["sources"]) == {"torchaudio"}  # type: ignore[call-overload]
    assert [index["name"] for index in left["index"]] == ["pytorch-cu126"]  # type: ignore[attr-defined]


def test_the_source_of_another_system_stays(shared_index: Index, tmp_path: Path) -> None:
    lines = (
        "[tool.uv.sources]\ntorch = [\n"
        '  { index = "pytorch-cpu", marker = "sys_platform == \'darwin\'" },\n'
        '  { index = "pytorch-cu126", marker = "sys_platform == \'linux\'" },\n]\n'
    )
    for name in ("cpu", "cu126"):
        lines += on_index(name).partition("\n")[2]
    project = locked(shared_index, tmp_path / "p", "torch==2.8.0", extra=lines)
    plan = plan_on(shared_index, project, CARD)
    assert moved(plan)["torch"] is not None
    assert settings(plan)["sources"] == {
        "torch": [{"index": "pytorch-cpu", "marker": "sys_platform == 'darwin'"}]
    }
    assert [index["name"] for index in settings(plan)["index"]] == ["pytorch-cpu"]  # type: ignore[attr-defined]
    assert holds(shared_index, project, plan, CARD)


def test_of_extras_in_conflict_only_the_chosen_one_goes_back(
    shared_index: Index, tmp_path: Path
) -> None:
    project = locked(shared_index, tmp_path / "p", "numpy", extra=conflicting("cpu", "cu126"))
    plan = plan_on(shared_index, project, CARD, extras=("cu126",))
    assert plan.status is Status.PLANNED
    assert settings(plan)["sources"] == {
        name: [{"index": "pytorch-cpu", "extra": "cpu"}] for name in ("torch", "torchaudio")
    }
    assert holds(shared_index, project, plan, CARD, extras=("cu126",))


def test_an_index_before_the_default_one_goes_where_only_the_stack_used_it(
    shared_index: Index, tmp_path: Path
) -> None:
    lines = on_index("cu126", "torch").replace("explicit = true\n", "")
    project = locked(shared_index, tmp_path / "p", "torch==2.8.0", extra=lines)
    plan = plan_on(shared_index, project, CARD)
    assert origins(plan) == {("torch", "2.8.0"): shared_index.url}
    assert settings(plan) == {}
    assert holds(shared_index, project, plan, CARD)


def test_an_index_for_all_in_an_older_spelling_leaves_the_default_one_no_choice(
    shared_index: Index, tmp_path: Path
) -> None:
    lines = on_index("cu126", "torch").replace("explicit = true\n", "")
    lines += '[tool.uv]\nextra-index-url = ["https://download.pytorch.org/whl/cu126"]\n'
    project = locked(shared_index, tmp_path / "p", "torch==2.8.0", extra=lines)
    assert moved(plan_on(shared_index, project, CARD))["torch"] == "2.8.0+cu128"
    assert "is asked for every package (pyproject.toml line" in barrier(shared_index, project)


def test_an_index_that_others_come_from_leaves_the_default_one_no_choice(
    shared_index: Index, tmp_path: Path
) -> None:
    lines = on_index("cu126", "torch").replace("explicit = true\n", "")
    project = locked(shared_index, tmp_path / "p", "torch==2.8.0", extra=lines)
    lock = project / "uv.lock"
    mine, other = f'"{shared_index.url}"', f'"{shared_index.whl}cu126"'
    head, name, rest = lock.read_text().partition('name = "filelock"\n')
    lock.write_text(head + name + rest.replace(mine, other, 1))
    assert barrier(shared_index, project).endswith("and filelock come from it")


def test_an_index_in_the_default_ones_place_says_so(shared_index: Index, tmp_path: Path) -> None:
    lines = on_index("cu126", "torch")
    project = locked(shared_index, tmp_path / "p", "torch==2.8.0", extra=lines)
    file = project / "pyproject.toml"
    file.write_text(file.read_text().replace("explicit", "default"))
    assert "is the project's default index (pyproject.toml line" in barrier(shared_index, project)


def barrier(index: Index, project: Path) -> str:
    """Why the default index is no choice for a project."""
    found = Project.find(project)
    request = Request(project=found, graph=mirrored(index), targets=(target(CARD),))
    return index_choice(request, found.read_lock()).closed[None]
