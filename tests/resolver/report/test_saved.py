"""A plan in a folder, there and back, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stackfix.plan.plan import Move, Plan, VariantChange
from stackfix.report.plan import load_plan, save_plan
from stackfix_lockfiles.errors import InputError
from tests.resolver.report.examples import IMPOSSIBLE, NEW, PLANNED


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    root = tmp_path / "project"
    root.mkdir()
    return replace(PLANNED, root=str(root))


def test_a_saved_plan_comes_back(plan: Plan, tmp_path: Path) -> None:
    save_plan(plan, tmp_path / "plan")
    saved = load_plan(tmp_path / "plan")
    assert (saved.status, saved.root, saved.download) == ("planned", Path(plan.root), plan.download)
    assert saved.files == {Path("pyproject.toml"): NEW, Path("uv.lock"): b"version = 1\n"}
    assert saved.base == {Path(path): digest for path, digest in plan.base.items()}
    assert ("torch", "2.7.1", "2.8.0") in saved.moves
    assert saved.diff == plan.diff
    assert (tmp_path / "plan/changes.diff").read_text() == plan.diff


def test_a_saved_swap_of_variants_comes_back_as_it_reads(plan: Plan, tmp_path: Path) -> None:
    variant = VariantChange(before="jax[cuda13]", after="jax[cuda12]")
    named = VariantChange(before="cupy-cuda13x", after="cupy-cuda12x")
    moves = (
        Move(package="jax", before="0.8.0", after="0.8.0", because="…", variant=variant),
        Move(package="cupy-cuda13x", before="14.0.0", after=None, because="…", variant=named),
        Move(package="cupy-cuda12x", before=None, after="13.6.0", because="…", variant=named),
    )
    save_plan(replace(plan, moves=moves), tmp_path / "plan")
    assert load_plan(tmp_path / "plan").moves == (
        ("jax[cuda13]", "0.8.0", "jax[cuda12]"),
        ("cupy-cuda13x", "14.0.0", "cupy-cuda12x 13.6.0"),
    )


def test_a_plan_that_an_older_release_saved_comes_back(plan: Plan, tmp_path: Path) -> None:
    save_plan(plan, tmp_path / "plan")
    file = tmp_path / "plan/plan.json"
    document = json.loads(file.read_text())
    del document["rebuilds"]
    for target in document["targets"]:
        del target["compat"]
    file.write_text(json.dumps(document))
    assert load_plan(tmp_path / "plan").files == {
        Path("pyproject.toml"): NEW,
        Path("uv.lock"): b"version = 1\n",
    }


def test_an_impossible_plan_can_be_saved_too(tmp_path: Path) -> None:
    save_plan(replace(IMPOSSIBLE, root=str(tmp_path)), tmp_path / "plan")
    assert load_plan(tmp_path / "plan").status == "impossible"


def test_a_newer_plan_replaces_an_older_one(plan: Plan, tmp_path: Path) -> None:
    folder = tmp_path / "plan"
    save_plan(plan, folder)
    save_plan(replace(plan, files={}), folder)
    assert load_plan(folder).files == {}
    assert not (folder / "files").exists()


def test_the_project_itself_is_no_place_for_a_plan(plan: Plan) -> None:
    with pytest.raises(InputError, match="a folder of its own"):
        save_plan(plan, Path(plan.root))


def test_a_folder_with_other_things_is_left_alone(plan: Plan, tmp_path: Path) -> None:
    folder = tmp_path / "home"
    (folder / "files").mkdir(parents=True)
    (folder / "files/precious.txt").write_text("x")
    with pytest.raises(InputError, match="an empty folder"):
        save_plan(plan, folder)
    assert (folder / "files/precious.txt").exists()


def test_a_file_is_no_folder(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "plan").write_text("x")
    with pytest.raises(InputError, match="found a file"):
        save_plan(plan, tmp_path / "plan")


def _escape(document: dict[str, Any]) -> None:
    document["files"]["../pyproject.toml"] = "0" * 64


def _absolute(document: dict[str, Any]) -> None:
    document["files"]["/etc/uv.toml"] = "0" * 64


def _other_file(document: dict[str, Any]) -> None:
    document["files"]["setup.py"] = "0" * 64


def _no_digest(document: dict[str, Any]) -> None:
    document["files"]["uv.lock"] = "latest"


def _no_base(document: dict[str, Any]) -> None:
    del document["base"]["uv.lock"]


def _newer(document: dict[str, Any]) -> None:
    document["schema"] = 2


def _no_root(document: dict[str, Any]) -> None:
    document["root"] = None


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_escape, "files: expected paths of pyproject.toml, uv.lock, uv.toml below the project"),
        (_absolute, "files: expected paths"),
        (_other_file, "files: expected paths"),
        (_no_digest, "files['uv.lock']: expected a sha256"),
        (_no_base, "base: expected the digest of uv.lock"),
        (_newer, "schema: expected 1"),
        (_no_root, "root: expected a string"),
    ],
)
def test_a_forged_plan_is_refused_with_its_place(
    plan: Plan, tmp_path: Path, spoil: Callable[[dict[str, Any]], None], message: str
) -> None:
    folder = tmp_path / "plan"
    save_plan(plan, folder)
    document = json.loads((folder / "plan.json").read_text())
    spoil(document)
    (folder / "plan.json").write_text(json.dumps(document))
    with pytest.raises(InputError) as fault:
        load_plan(folder)
    assert message in str(fault.value)


def test_files_that_were_edited_after_saving_are_refused(plan: Plan, tmp_path: Path) -> None:
    save_plan(plan, tmp_path / "plan")
    (tmp_path / "plan/files/uv.lock").write_text("version = 2\n")
    with pytest.raises(InputError, match=r"files/uv\.lock: expected the content that plan\.json"):
        load_plan(tmp_path / "plan")


def test_a_folder_without_a_plan_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"plan\.json: expected a readable file"):
        load_plan(tmp_path)
