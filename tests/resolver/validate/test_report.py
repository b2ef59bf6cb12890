"""What a person reads."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from stackfix.documents.document import dump
from stackfix.report.text import show
from stackfix.report.validation import validation_document, validation_text
from stackfix.validate.result import (
    Cause,
    Check,
    Outcome,
    ProcessEnding,
    ProvenEnvironment,
    StageResult,
    Validation,
)
from stackfix_knowledge.logs.signatures import Remedy, RemedyKind
from tests.resolver.making import target
from tests.resolver.report.published import valid

_ENDED = ProcessEnding(exit_code=0, signal=None, limit=None, seconds=12.3, memory=1 << 30)
_CRASHED = ProcessEnding(exit_code=None, signal="SIGSEGV", limit=None, seconds=0.5, memory=0)


def stage(name: str, outcome: Outcome, reason: str = "", *checks: Check) -> StageResult:
    return StageResult(
        name=name,
        title=f"the {name}",
        outcome=outcome,
        reason=reason,
        checks=checks,
        ending=None if outcome is Outcome.SKIPPED else _ENDED,
    )


def validation(*stages: StageResult, kept: Path | None = None) -> Validation:
    return Validation(
        project="example",
        lock="00",
        targets=(target("RTX 5090"),),
        cards=("NVIDIA GeForce RTX 5090",) * 2,
        quick=False,
        installed=ProvenEnvironment(
            python=Path("/venv/bin/python"),
            version="3.11.7",
            scratch=True,
            kept=kept,
            packages={"torch": "2.7.1"},
        ),
        stages=stages,
    )


def text(found: Validation) -> str:
    valid("validation-1", validation_document(found))
    file = io.StringIO()
    show(Console(file=file, width=120), validation_text(found))
    return file.getvalue()


PASSED = stage("conv", Outcome.PASSED, "", Check(name="2-D", outcome=Outcome.PASSED))


def test_what_is_wrong_with_the_machine_stands_before_the_verdict() -> None:
    found = replace(validation(stage("conv", Outcome.PASSED)), notes=("the fabric is not started",))
    assert "! the fabric is not started\n" in text(found)


def test_all_passed_on_a_card_says_so_and_nothing_else() -> None:
    shown = text(validation(PASSED))
    assert "✓ all stages passed" in shown
    assert "not proven" not in shown
    assert "1 check" not in shown.splitlines()[0]


def test_what_was_skipped_is_named_with_its_reason() -> None:
    shown = text(validation(PASSED, stage("nccl", Outcome.SKIPPED, "torch is not installed")))
    assert "passed what could run: 1 stage" in shown
    assert "not proven: the nccl" in shown
    assert "torch is not installed" in shown
    assert "nothing ran on a card" not in shown


def test_a_check_skipped_inside_a_passed_stage_is_named() -> None:
    checks = (
        Check(name="all-reduce", outcome=Outcome.PASSED),
        Check(name="between cards", outcome=Outcome.SKIPPED, detail="one card is visible"),
    )
    shown = text(validation(stage("nccl", Outcome.PASSED, "", *checks)))
    assert "not checked: between cards (one card is visible)" in shown


def test_a_crash_shows_its_signal_and_the_end_of_its_log() -> None:
    log = "\n".join(f"line {number}" for number in range(100)) + "\x1b[2J"
    crashed = StageResult(
        name="conv",
        title="convolutions",
        outcome=Outcome.FAILED,
        reason="crashed with SIGSEGV",
        checks=(Check(name="2-D", outcome=Outcome.FAILED, detail="crashed with SIGSEGV"),),
        ending=_CRASHED,
        log=log,
        cause=Cause(
            family="cudnn_execution_failed",
            meaning="A cuDNN kernel could not run.",
            line="CUDNN_STATUS_EXECUTION_FAILED",
            fixes=(Remedy(kind=RemedyKind.PINS, text="upgrade together", command="stackfix plan"),),
        ),
    )
    shown = text(validation(crashed, PASSED))
    assert "convolutions  SIGSEGV" in shown
    assert "cudnn_execution_failed: A cuDNN kernel could not run." in shown
    assert "→ pins: upgrade together: stackfix plan" in shown
    assert "line 98" in shown
    assert "line 3\n" not in shown
    assert "75 lines before" in shown
    assert "\x1b" not in shown
    assert "✗ 1 stage failed: convolutions" in shown


def test_many_failed_checks_are_counted() -> None:
    checks = [Check(name=f"c{n}", outcome=Outcome.FAILED, detail="off") for n in range(40)]
    shown = text(validation(stage("conv", Outcome.FAILED, "c0: off, and 39 more", *checks)))
    assert "and 28 more checks" in shown


def test_a_kept_environment_is_told() -> None:
    assert "kept: /cache/kept-1" in text(validation(PASSED, kept=Path("/cache/kept-1")))


def test_the_document_is_json() -> None:
    assert '"ran_on_a_card": true' in dump(validation_document(validation(PASSED)))
