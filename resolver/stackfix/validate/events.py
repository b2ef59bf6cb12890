"""From the lines that a kernel told to the row of its stage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stackfix.validate.process import Limits, Ran
from stackfix.validate.result import Check, Ending, Outcome, StageResult

__all__ = ["told_by"]

_MOST_BYTES = 8 << 20
_MOST_CHECKS = 20_000
_WORDS = {
    "SIGSEGV": "it touched memory that is not its own",
    "SIGABRT": "it gave up by itself (abort), the log says why",
    "SIGKILL": "something killed it: most often the kernel, for want of memory",
    "SIGILL": "it has instructions that this processor lacks",
    "SIGBUS": "it could not reach its memory: /dev/shm or a disk may be full",
    "SIGFPE": "it divided by zero",
}


def told_by(name: str, title: str, file: Path, ran: Ran, limits: Limits) -> StageResult:
    """The stage's result from the JSON lines in `file` and from how its process ended."""
    checks, facts, open_check, ended = _read(file)
    problem = _problem(ran.ending, limits, ended)
    if problem:
        where = f" in “{open_check}”" if open_check else ""
        checks.append(
            Check(name=open_check or "the process", outcome=Outcome.FAILED, detail=problem)
        )
        problem = f"{problem}{where}"
    outcome, reason = _sum(checks, problem)
    return StageResult(
        name=name,
        title=title,
        outcome=outcome,
        reason=reason,
        checks=tuple(checks),
        facts=facts,
        ending=ran.ending,
        log=ran.log if outcome is Outcome.FAILED else "",
    )


def _read(file: Path) -> tuple[list[Check], dict[str, Any], str | None, bool]:
    """Checks, facts, the check that was begun and never ended, and whether the end was told."""
    checks: list[Check] = []
    facts: dict[str, Any] = {}
    begun: str | None = None
    ended = False
    for told in _lines(file):
        event = told.get("event")
        if event == "started":
            begun = str(told.get("check"))
        elif event == "fact":
            facts[str(told.get("name"))] = told.get("value")
        elif event == "end":
            ended = True
        elif event == "ready":
            begun = None
        elif event in list(Outcome) and len(checks) < _MOST_CHECKS:
            begun = None
            detail = " ".join(str(told.get("detail", "")).split())
            checks.append(Check(name=str(told.get("check")), outcome=Outcome(event), detail=detail))
    return checks, facts, begun, ended


def _lines(file: Path) -> list[dict[str, Any]]:
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES)
    except OSError:
        return []
    found = []
    for line in data.splitlines():
        try:
            told = json.loads(line)
        except (ValueError, RecursionError):  # the last line of a process that was killed
            continue
        if isinstance(told, dict):
            found.append(told)
    return found


def _problem(ending: Ending, limits: Limits, ended: bool) -> str:
    """What is wrong with the way it ended; "" for nothing."""
    if ending.limit == "time":
        return f"hung: not done after {limits.seconds:.0f} s"
    if ending.limit == "memory":
        return f"took more than the {limits.memory >> 20:,} MiB of memory that it may have"
    if ending.signal:
        meaning = _WORDS.get(ending.signal)
        return f"crashed with {ending.signal}" + (f": {meaning}" if meaning else "")
    if ending.exit_code is None:
        return "could not be ended: it sits in a call into the driver"
    if not ended:
        return f"stopped with exit code {ending.exit_code} before its end"
    # A kernel that came to its end says 1 for failed checks; more is a fault while leaving.
    if ending.exit_code > 1:
        return f"ended with exit code {ending.exit_code}"
    return ""


def _sum(checks: list[Check], problem: str) -> tuple[Outcome, str]:
    failed = [check for check in checks if check.outcome is Outcome.FAILED]
    skipped = [check for check in checks if check.outcome is Outcome.SKIPPED]
    if problem:
        return Outcome.FAILED, problem
    if failed:
        more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        return Outcome.FAILED, f"{failed[0].name}: {failed[0].detail}{more}"
    if skipped and len(skipped) == len(checks):
        return Outcome.SKIPPED, skipped[0].detail
    return Outcome.PASSED, ""
