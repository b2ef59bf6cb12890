"""`--plan DIR` and `apply --validate`: a plan is proven before it is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stackfix.cli.main import main
from stackfix.report.plan import save_plan
from stackfix.validate.result import Outcome, StageResult, Validation
from stackfix.validate.validate import ValidationRequest
from tests.resolver.cli.project import NEW_LOCK, make_project, plan_for, replace_planner

TARGET = ("--target", "RTX 5090")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[ValidationRequest]:
    """The requests that reached the validation, which passes unless `FAILS` stands in them."""
    asked: list[ValidationRequest] = []

    def validate(request: ValidationRequest) -> Validation:
        asked.append(request)
        row = StageResult(
            name="conv", title="convolutions", outcome=OUTCOME["now"], reason="because"
        )
        return Validation(
            project="example",
            lock=None,
            targets=request.targets,
            cards=(),
            quick=False,
            installed=None,
            stages=(row,),
        )

    monkeypatch.setattr("stackfix.validate.validate.validate", validate)
    monkeypatch.setitem(OUTCOME, "now", Outcome.PASSED)
    return asked


OUTCOME: dict[str, Outcome] = {"now": Outcome.PASSED}


def _lock_of(request: ValidationRequest) -> str:
    assert request.install is not None
    return request.install.lock.data.decode()


def test_a_saved_plan_is_validated_in_place_of_the_lock(
    project: Path,
    tmp_path: Path,
    requests: list[ValidationRequest],
    capsys: pytest.CaptureFixture[str],
) -> None:
    save_plan(plan_for(project), tmp_path / "plan")
    arguments = ["validate", "--plan", str(tmp_path / "plan"), *TARGET, "--format", "json"]
    assert main(arguments) == 0
    assert _lock_of(requests[0]) == NEW_LOCK
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document["outcome"] == "passed"


def test_a_project_that_changed_since_the_plan_is_refused(
    project: Path,
    tmp_path: Path,
    requests: list[ValidationRequest],
    capsys: pytest.CaptureFixture[str],
) -> None:
    save_plan(plan_for(project), tmp_path / "plan")
    (project / "uv.lock").write_text((project / "uv.lock").read_text() + "# changed\n")
    assert main(["validate", "--plan", str(tmp_path / "plan"), *TARGET]) == 2
    assert "expected it as it was when the plan was made" in capsys.readouterr().err
    assert requests == []


def test_apply_writes_what_passed(
    project: Path, requests: list[ValidationRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_planner(monkeypatch, lambda request: plan_for(project))
    arguments = ["apply", "--project", str(project), *TARGET, "--yes", "--validate"]
    assert main(arguments) == 0
    assert _lock_of(requests[0]) == NEW_LOCK
    assert (project / "uv.lock").read_text() == NEW_LOCK


@pytest.mark.parametrize("saved", [True, False])
def test_apply_writes_nothing_that_failed(
    saved: bool,
    project: Path,
    tmp_path: Path,
    requests: list[ValidationRequest],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(OUTCOME, "now", Outcome.FAILED)
    replace_planner(monkeypatch, lambda request: plan_for(project))
    before = (project / "uv.lock").read_text()
    if saved:
        save_plan(plan_for(project), tmp_path / "plan")
        arguments = ["apply", str(tmp_path / "plan"), "--yes", "--validate"]
    else:
        arguments = ["apply", "--project", str(project), *TARGET, "--yes", "--validate"]
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert "✗ 1 stage failed: convolutions" in captured.out
    assert "nothing was written" in captured.err
    assert (project / "uv.lock").read_text() == before
    assert len(requests) == 1


def test_a_dry_run_proves_nothing(
    project: Path, requests: list[ValidationRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_planner(monkeypatch, lambda request: plan_for(project))
    arguments = ["apply", "--project", str(project), *TARGET, "--dry-run", "--validate"]
    assert main(arguments) == 0
    assert requests == []
