"""`stackfix plan`: what it asks the planner, what it prints, what it saves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stackfix.cli.main import main
from stackfix.host.host import Host
from stackfix.report.plan import load_plan
from tests.resolver.cli.project import LOCK, PYPROJECT, make_project, plan_for, replace_planner
from tests.resolver.report import examples
from tests.resolver.targets.test_hosts import RTX_5090, a_card, a_host

TARGET = ["--target", "RTX 5090:4@570.133.07"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


@pytest.fixture(autouse=True)
def no_card_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stackfix.host.detect.detect", lambda **_: a_host())


def test_a_plan_is_shown_with_what_to_do_next(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replace_planner(monkeypatch, lambda request: plan_for(project))
    assert main(["plan", "--project", str(project), *TARGET]) == 0
    output = capsys.readouterr().out
    assert "Moves together" in output
    assert "stackfix apply" in output
    assert "uv sync" in output


def test_the_planner_gets_what_was_chosen(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = replace_planner(monkeypatch, lambda request: plan_for(project))
    options = ["--python", "3.12", "--extra", "serve", "--group", "train", "--offline"]
    steering = ["--keep", "JAX", "--require", "torch<2.10", "--strategy", "newest"]
    assert main(["plan", "--project", str(project), *TARGET, *options, *steering]) == 0
    (request,) = requests
    assert request.project.root == project
    assert [target.label for target in request.targets] == [
        "4 × RTX 5090 (12.0), driver 570.133.07"
    ]
    assert (request.python, request.extras, request.groups) == ("3.12", ("serve",), ("train",))
    assert (request.keep, request.require) == (("jax",), ("torch<2.10",))
    assert request.strategy == "newest"
    assert request.offline


def test_a_platform_can_be_written_as_uv_does(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = replace_planner(monkeypatch, lambda request: plan_for(project))
    platform = ["--platform", "aarch64-unknown-linux-gnu"]
    assert main(["plan", "--project", str(project), *TARGET, *platform]) == 0
    assert [target.platform for target in requests[0].targets] == ["linux_aarch64"]


def test_this_machines_cards_are_the_default(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def here(**_: object) -> Host:
        return a_host(a_card(0, RTX_5090, "12.0"))

    monkeypatch.setattr("stackfix.host.detect.detect", here)
    requests = replace_planner(monkeypatch, lambda request: plan_for(project))
    assert main(["plan", "--project", str(project)]) == 0
    assert requests[0].targets[0].gpu == "RTX 5090"
    assert "from this machine" in capsys.readouterr().out


def test_no_card_and_no_target_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "--project", str(project)]) == 2
    error = capsys.readouterr().err
    assert "--target" in error
    assert error.count("\n") == 1


def test_json_is_one_object_and_nothing_else(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replace_planner(monkeypatch, lambda request: plan_for(project))
    assert main(["plan", "--project", str(project), *TARGET, "--format", "json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["status"] == "planned"
    assert output.err == ""


def test_no_plan_is_exit_3(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replace_planner(monkeypatch, lambda request: plan_for(project, examples.IMPOSSIBLE))
    assert main(["plan", "--project", str(project), *TARGET]) == 3
    assert "What would open a way" in capsys.readouterr().out


def test_a_plan_is_saved_and_the_project_left_alone(
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    replace_planner(monkeypatch, lambda request: plan_for(project))
    folder = tmp_path / "a plan"
    assert main(["plan", "--project", str(project), *TARGET, "-o", str(folder)]) == 0
    assert load_plan(folder).root == project
    assert (project / "pyproject.toml").read_text() == PYPROJECT
    assert (project / "uv.lock").read_text() == LOCK
    assert f"stackfix apply '{folder}'  writes" in capsys.readouterr().out


def test_nothing_to_do_names_no_next_command(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    replace_planner(monkeypatch, lambda request: plan_for(project, examples.NOTHING))
    assert main(["plan", "--project", str(project), *TARGET]) == 0
    assert "uv sync" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("targets = ['rtx5909']", "tool.stackfix.targets[0]: no single card is known as"),
        ("knowledge = 'facts.toml'", "tool.stackfix.knowledge: expected a list of paths"),
        ("knowledge = ['facts.toml']", "facts.toml"),
    ],
)
def test_settings_that_cannot_be_used_are_one_line(
    project: Path, setting: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "pyproject.toml").write_text(f"{PYPROJECT}\n[tool.stackfix]\n{setting}\n")
    assert main(["plan", "--project", str(project)]) == 2
    error = capsys.readouterr().err
    assert line in error
    assert error.count("\n") == 1


def test_notes_about_hosts_go_to_stderr(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    noted = replace(a_host(a_card(0, RTX_5090, "12.0")), notes=("card 1 does not answer",))
    monkeypatch.setattr("stackfix.host.detect.detect", lambda **_: noted)
    replace_planner(monkeypatch, lambda request: plan_for(project))
    assert main(["plan", "--project", str(project), "--format", "json"]) == 0
    output = capsys.readouterr()
    assert "note: card 1 does not answer" in output.err
    json.loads(output.out)
