"""`stackfix diagnose`: exit codes, formats, standard input, the project it runs in."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from stackfix.cli.main import main
from tests.resolver.cli.project import make_project
from tests.resolver.targets.test_hosts import a_host

FAULT = "RuntimeError: CUDA error: misaligned address\n"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("stackfix.host.detect.detect", lambda **_: a_host())
    path = tmp_path / "run.log"
    path.write_text(FAULT)
    return path


def test_a_cause_is_exit_0(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(log)]) == 0
    assert "kernel_memory_fault" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "step 1\n", "ncclUnhandledCudaError: Call failed.\n"])
def test_no_cause_is_exit_1(text: str, log: Path) -> None:
    log.write_text(text)
    assert main(["diagnose", str(log)]) == 1


def test_a_missing_log_is_one_line_and_exit_2(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", "nothing.log"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("nothing.log: expected a log file")
    assert error.count("\n") == 1


def test_json_is_for_scripts(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "--format", "json", str(log)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["family"] == "kernel_memory_fault"
    assert document["cause"] == [{"file": str(log), "line": 1, "text": FAULT.strip(), "rank": None}]
    assert {"rank", "wrappers", "collateral", "versions", "fix", "verify", "unknown"} <= set(
        document
    )


def test_standard_input_is_read(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FAULT.encode())))
    assert main(["diagnose", "-"]) == 0
    assert "<stdin>:1" in capsys.readouterr().out


def test_a_redacted_report_hides_the_path(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "--redact", "--format", "json", str(log)]) == 0
    assert str(log.parent) not in capsys.readouterr().out


def test_inside_a_project_the_answer_is_tied_to_its_lock(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_project(log.parent)
    log.write_text("cards: NVIDIA GeForce RTX 5090, one\n" + FAULT)
    assert main(["diagnose", "--format", "json", str(log)]) == 0
    stack = json.loads(capsys.readouterr().out)["stack"]
    assert stack["agrees"] is False


def test_a_project_can_be_left_out(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_project(log.parent)
    assert main(["diagnose", "--no-project", "--format", "json", str(log)]) == 0
    assert json.loads(capsys.readouterr().out)["stack"] is None


def test_a_broken_project_does_not_keep_a_log_from_being_read(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_project(log.parent)
    (log.parent / "uv.lock").write_text("version = 99\n")
    assert main(["diagnose", str(log)]) == 0
    assert "not compared with the project" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--exec", "true", "x.log"], "--exec needs --watch"),
        (["--watch", "-"], "--watch needs files"),
    ],
)
def test_options_that_do_not_go_together(
    arguments: list[str], words: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", *arguments]) == 2
    assert words in capsys.readouterr().err
