"""Copies of a project's own packages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stackfix.validate import sources
from stackfix.validate.closure import CannotInstall
from stackfix.validate.sources import copy_sources


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in {
        "pyproject.toml": "mine",
        "src/app/__init__.py": "x = 1",
        "src/app/__pycache__/app.pyc": "compiled",
        ".venv/pyvenv.cfg": "home = x",
        ".venv/bin/python": "python",
        "node_modules/x/index.js": "js",
        ".git/HEAD": "ref: refs/heads/main",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def copied(target: Path) -> set[str]:
    return {str(path.relative_to(target)) for path in target.rglob("*") if not path.is_dir()}


def test_code_is_copied_and_environments_and_caches_are_not(project: Path, tmp_path: Path) -> None:
    copy_sources({project: tmp_path / "copy"})
    assert copied(tmp_path / "copy") == {"pyproject.toml", "src/app/__init__.py", ".git"}


def test_history_is_referred_to(project: Path, tmp_path: Path) -> None:
    copy_sources({project: tmp_path / "copy"})
    assert (tmp_path / "copy/.git").read_text() == f"gitdir: {project}/.git\n"


def test_what_is_there_already_stays(project: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy/pyproject.toml").write_text("the plan's")
    copy_sources({project: tmp_path / "copy"})
    assert (tmp_path / "copy/pyproject.toml").read_text() == "the plan's"


def test_links_lead_where_they_led(project: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("outside")
    (project / "inside").symlink_to("src/app/__init__.py")
    (project / "outside").symlink_to("../data")
    (project / "folder").symlink_to(tmp_path, target_is_directory=True)
    (project / "broken").symlink_to("nowhere")
    copy = tmp_path / "elsewhere/deep/copy"
    copy_sources({project: copy})
    assert (copy / "inside").resolve() == copy / "src/app/__init__.py"
    assert (copy / "outside").read_text() == "outside"
    assert os.readlink(copy / "folder") == str(tmp_path)
    assert os.readlink(copy / "broken") == "nowhere"


def test_large_files_are_linked(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_LINKED", 1000)
    (project / "weights.bin").write_bytes(bytes(1000))
    copy_sources({project: tmp_path / "copy"})
    assert (tmp_path / "copy/weights.bin").is_symlink()


@pytest.mark.parametrize(("name", "value"), [("_MOST_FILES", 1), ("_MOST_BYTES", 5)])
def test_a_folder_that_is_too_large_is_refused(
    name: str, value: int, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, name, value)
    with pytest.raises(CannotInstall, match="too large to be copied"):
        copy_sources({project: tmp_path / "copy"})


def test_pipes_are_no_sources(project: Path, tmp_path: Path) -> None:
    os.mkfifo(project / "pipe")
    copy_sources({project: tmp_path / "copy"})
    assert "pipe" not in copied(tmp_path / "copy")
