"""`stackfix knowledge lint`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackfix.cli.main import main
from tests.knowledge.lint.test_lint import WHEEL, shipped
from tests.resolver.report.published import valid


def test_the_shipped_facts_are_sound_and_list_what_a_person_should_see(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stackfix_knowledge.lint.lint.lint_shipped", shipped)
    assert main(["knowledge", "lint"]) == 0
    output = capsys.readouterr().out
    assert "Wrong:" not in output
    assert "Documents and measurements disagree:" in output
    assert output.splitlines()[-1].startswith("✓ nothing wrong")


def test_a_fault_is_exit_1_and_names_file_and_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "facts.toml"
    path.write_text(WHEEL.replace("yanked", "yankt"))
    assert main(["knowledge", "lint", str(path)]) == 1
    output = capsys.readouterr().out
    assert output.startswith(f"Wrong:\n  {path}: release[0].yankt: expected one of the keys")


def test_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "facts.toml"
    path.write_text(WHEEL.replace("1.0", "one", 1))
    assert main(["knowledge", "lint", str(path), "--format", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    valid("lint-1", document)
    assert document["problems"][0]["kind"] == "fault"


def test_a_file_that_steers_the_terminal_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "facts.toml"
    path.write_text('package = "\\u001b[31m"\n"\\u001b]0;x" = 1\n')
    assert main(["knowledge", "lint", str(path)]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_a_file_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["knowledge", "lint", "none.toml"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
