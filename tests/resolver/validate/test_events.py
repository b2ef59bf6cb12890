"""From what a kernel told, and how its process ended, to one row."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackfix.validate.events import told_by
from stackfix.validate.process import Limits, Ran
from stackfix.validate.result import Ending, Outcome, StageResult

LIMITS = Limits(seconds=10, memory=1 << 30)


def ending(code: int | None = 0, *, signal: str | None = None, limit: str | None = None) -> Ending:
    return Ending(exit_code=code, signal=signal, limit=limit, seconds=1.0, memory=0)


def row(folder: Path, lines: list[object], how: Ending) -> StageResult:
    file = folder / "told.jsonl"
    text = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    file.write_text("\n".join(text))
    return told_by("conv", "convolutions", file, Ran(ending=how, log="the log"), LIMITS)


def check(name: str, event: str, detail: str = "") -> list[object]:
    return [
        {"event": "started", "check": name},
        {"event": event, "check": name, "detail": detail},
    ]


END: list[object] = [{"event": "end"}]


def test_all_checks_passed_is_passed_and_needs_no_log(tmp_path: Path) -> None:
    found = row(tmp_path, check("a", "passed") + END, ending())
    assert found.outcome is Outcome.PASSED
    assert found.log == ""


def test_a_failed_check_is_the_reason(tmp_path: Path) -> None:
    lines = check("a", "failed", "off") + check("b", "failed", "too") + END
    found = row(tmp_path, lines, ending(1))
    assert found.outcome is Outcome.FAILED
    assert found.reason == "a: off, and 1 more"
    assert found.log == "the log"


def test_only_skipped_checks_are_a_skipped_stage(tmp_path: Path) -> None:
    found = row(tmp_path, check("a", "skipped", "not here") + END, ending())
    assert found.outcome is Outcome.SKIPPED
    assert found.reason == "not here"


def test_a_condition_that_holds_proves_nothing_by_itself(tmp_path: Path) -> None:
    lines = check("the device is seen", "ready") + check("a", "skipped", "not here") + END
    found = row(tmp_path, lines, ending())
    assert found.outcome is Outcome.SKIPPED
    assert [one.name for one in found.checks] == ["a"]


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (ending(0), "stopped with exit code 0 before its end in “b”"),
        (ending(None, signal="SIGKILL"), "crashed with SIGKILL: something killed it: most often"),
        (ending(None, signal="SIGBUS"), "crashed with SIGBUS: it could not reach its memory"),
        (ending(None, limit="time"), "hung: not done after 10 s in “b”"),
        (ending(None, limit="memory"), "took more than the 1,024 MiB of memory"),
        (ending(None), "could not be ended: it sits in a call into the driver"),
    ],
)
def test_an_end_before_the_end_fails_in_the_open_check(
    how: Ending, reason: str, tmp_path: Path
) -> None:
    lines = [*check("a", "passed"), {"event": "started", "check": "b"}]
    found = row(tmp_path, lines, how)
    assert found.outcome is Outcome.FAILED
    assert found.reason.startswith(reason)
    assert found.checks[-1].name == "b"


def test_a_crash_while_leaving_fails_though_every_check_passed(tmp_path: Path) -> None:
    found = row(tmp_path, check("a", "passed") + END, ending(None, signal="SIGSEGV"))
    assert found.outcome is Outcome.FAILED


def test_a_process_that_told_nothing_fails(tmp_path: Path) -> None:
    found = told_by("c", "c", tmp_path / "none", Ran(ending=ending(1), log="x"), LIMITS)
    assert found.reason == "stopped with exit code 1 before its end"


def test_a_line_that_was_cut_off_is_no_line(tmp_path: Path) -> None:
    found = row(tmp_path, [*check("a", "passed"), '{"event": "pas'], ending(None, limit="time"))
    assert [one.outcome for one in found.checks] == [Outcome.PASSED, Outcome.FAILED]
