"""`stackfix apply`: what it writes, what it refuses, and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.cli.main import main
from stackfix.report.plan import save_plan
from tests.resolver.cli.project import (
    LOCK,
    NEW_LOCK,
    NEW_PYPROJECT,
    PYPROJECT,
    make_project,
    plan_for,
    replace_planner,
)
from tests.resolver.report import examples

TARGET = ["--target", "L4"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


@pytest.fixture
def folder(project: Path, tmp_path: Path) -> Path:
    save_plan(plan_for(project), tmp_path / "plan")
    return tmp_path / "plan"


def content(project: Path) -> tuple[str, str]:
    return (project / "pyproject.toml").read_text(), (project / "uv.lock").read_text()


OLD = (PYPROJECT, LOCK)
NEW = (NEW_PYPROJECT, NEW_LOCK)


def test_a_saved_plan_is_written(
    project: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", str(folder), "--yes"]) == 0
    assert content(project) == NEW
    output = capsys.readouterr().out
    assert "wrote pyproject.toml, uv.lock" in output
    assert "uv sync" in output
    assert "3.1 GB" in output


def test_undo_takes_it_back(project: Path, folder: Path) -> None:
    main(["apply", str(folder), "--yes"])
    assert main(["apply", "--undo", "--project", str(project)]) == 0
    assert content(project) == OLD


def test_undo_without_a_change_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", "--undo", "--project", str(project)]) == 2
    assert "nothing to undo" in capsys.readouterr().err


def test_a_dry_run_writes_nothing(
    project: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", str(folder), "--dry-run"]) == 0
    assert content(project) == OLD
    assert "would write pyproject.toml, uv.lock" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["pyproject.toml", "uv.lock"])
def test_a_project_that_changed_since_the_plan_is_refused(
    project: Path, folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (project / name).open("a") as file:
        file.write("# edited\n")
    before = content(project)
    assert main(["apply", str(folder), "--yes"]) == 2
    assert content(project) == before
    assert f"{name}: was edited in the meantime" in capsys.readouterr().err


def test_without_a_terminal_yes_has_to_be_said(
    project: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", str(folder)]) == 2
    assert "pass --yes" in capsys.readouterr().err
    assert content(project) == OLD


@pytest.mark.parametrize(("answer", "written"), [("y", NEW), ("n", OLD), ("", OLD)])
def test_on_a_terminal_it_asks(
    project: Path,
    folder: Path,
    answer: str,
    written: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt: answer)
    assert main(["apply", str(folder)]) == 0
    assert content(project) == written


def test_what_is_neither_yes_nor_no_is_asked_again(
    project: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["perhaps", "YES"])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt: next(answers))
    assert main(["apply", str(folder)]) == 0
    assert content(project) == NEW


@pytest.mark.parametrize("ending", [EOFError, KeyboardInterrupt])
def test_an_end_in_place_of_an_answer_writes_nothing(
    project: Path, folder: Path, ending: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(prompt: str) -> str:
        raise ending

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", end)
    assert main(["apply", str(folder)]) == 130
    assert content(project) == OLD


def test_another_copy_of_the_project_can_be_named(
    project: Path, folder: Path, tmp_path: Path
) -> None:
    copy = make_project(tmp_path / "copy")
    assert main(["apply", str(folder), "--yes", "--project", str(copy)]) == 0
    assert content(copy) == NEW
    assert content(project) == OLD


@pytest.mark.parametrize("option", [["--target", "L4"], ["--keep", "jax"], ["--python", "3.12"]])
def test_options_that_cannot_change_a_saved_plan_are_refused(
    project: Path, folder: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", str(folder), "--yes", *option]) == 2
    assert f"{option[0]} cannot change a saved plan" in capsys.readouterr().err
    assert content(project) == OLD


def test_without_a_folder_it_plans_and_writes(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_planner(monkeypatch, lambda request: plan_for(project))
    assert main(["apply", "--project", str(project), *TARGET, "--yes"]) == 0
    assert content(project) == NEW


def test_no_plan_is_exit_3_and_writes_nothing(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impossible = plan_for(project, examples.IMPOSSIBLE)
    replace_planner(monkeypatch, lambda request: impossible)
    assert main(["apply", "--project", str(project), *TARGET, "--yes"]) == 3
    save_plan(impossible, tmp_path / "none")
    assert main(["apply", str(tmp_path / "none"), "--yes"]) == 3
    assert content(project) == OLD


def test_nothing_to_do_is_fine(project: Path, tmp_path: Path) -> None:
    save_plan(plan_for(project, examples.NOTHING), tmp_path / "none")
    assert main(["apply", str(tmp_path / "none"), "--yes"]) == 0
    assert content(project) == OLD


def test_a_folder_without_a_plan_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", str(tmp_path), "--yes"]) == 2
    error = capsys.readouterr().err
    assert "plan.json: expected a readable file" in error
    assert error.count("\n") == 1
