"""Running the stages one after the other, and reading what each told."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from stackfix.host.files import read
from stackfix.host.system import read_memory_left
from stackfix.validate.process import ProcessLimits, ProcessRun, run_limited
from stackfix.validate.result import (
    Cause,
    Check,
    Outcome,
    ProcessEnding,
    StageResult,
    failure_in,
)
from stackfix.validate.stages import Stage
from stackfix_knowledge.graph import Graph

__all__ = ["STAGE", "allowed_memory", "cause_of", "run_stages", "stage_environment", "stage_result"]

STAGE = "stage-"
"""How the folder of one stage is called, which goes with it."""
_SHARE = 0.8
"""Of the memory that is free: the rest of the machine has to live on."""
_UNKNOWN = 8 << 30
_LEAST = 1 << 30
"""Frameworks do not even start with less; where there is less, the kernel decides."""
_REPORT_BYTES = 8 << 20
_REPORT_CHECKS = 20_000
_SIGNALS = {
    "SIGSEGV": "it touched memory that is not its own",
    "SIGABRT": "it gave up by itself (abort), the log says why",
    "SIGKILL": "something killed it: most often the kernel, for want of memory",
    "SIGILL": "it has instructions that this processor lacks",
    "SIGBUS": "it could not reach its memory: /dev/shm or a disk may be full",
    "SIGFPE": "it divided by zero",
}


def run_stages(
    found: Iterable[Stage],
    *,
    env: Mapping[str, str],
    graph: Graph,
    folder: Path,
    progress: Callable[[str], None] = lambda text: None,
) -> Iterable[StageResult]:
    """The result of each stage, as soon as it is there; what they write goes into `folder`."""
    for stage in found:
        if stage.skip is not None:
            yield StageResult(
                name=stage.name, title=stage.title, outcome=Outcome.SKIPPED, reason=stage.skip
            )
            continue
        progress(stage.title)
        result = _run(stage, env, folder)
        if result.outcome is Outcome.FAILED and result.log.strip():
            progress(f"{stage.title}: reading its log")
            result = replace(result, cause=cause_of(result.log, graph))
        yield result


def _run(stage: Stage, env: Mapping[str, str], base: Path) -> StageResult:
    with tempfile.TemporaryDirectory(prefix=STAGE, dir=base) as folder:
        file = Path(folder) / "report.jsonl"
        empty = Path(folder) / "empty"  # what lies in the user's folder hides no package
        empty.mkdir()
        flag = () if stage.name == "code" else ("--json",)
        # What a kernel leaves behind goes with the folder, however it ends; and what it generates
        # is its own, so that nothing older stands in for it.
        own = {
            "TMPDIR": folder,
            "TORCHINDUCTOR_CACHE_DIR": str(Path(folder) / "inductor"),
            "TRITON_CACHE_DIR": str(Path(folder) / "triton"),
            "JAX_ENABLE_COMPILATION_CACHE": "false",
        }
        try:
            ran = run_limited(
                (*stage.command, *flag, str(file)),
                cwd=empty,
                env={**dict(stage.env), **env, **own},
                limits=stage.limits,
            )
        except OSError as error:
            reason = f"could not be started: {error.strerror}"
            failed = Check(name="the process", outcome=Outcome.FAILED, detail=reason)
            return StageResult(
                name=stage.name,
                title=stage.title,
                outcome=Outcome.FAILED,
                reason=reason,
                checks=(failed,),
            )
        return stage_result(stage.name, stage.title, file, ran, stage.limits)


def stage_environment(env: Mapping[str, str], *, scratch: bool) -> dict[str, str]:
    """The environment that stages run in: the user's, with LD_LIBRARY_PATH, as programs have it.

    A scratch environment is spared what would bring other packages into it.
    """
    own = dict(env)
    own.setdefault("PYTHONFAULTHANDLER", "1")
    own["PYTHONUNBUFFERED"] = "1"
    own.pop("PYTHONSAFEPATH", None)  # the kernels find each other in their own folder
    if scratch:
        for name in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
            own.pop(name, None)
        own["PYTHONNOUSERSITE"] = "1"
    return own


def allowed_memory(root: Path = Path("/")) -> int:
    """Bytes that a stage may take: most of what the machine, or its control group, has free."""
    known = re.search(r"^MemAvailable:\s+(\d{1,15}) kB", read(root / "proc/meminfo") or "", re.M)
    available = int(known[1]) << 10 if known else _UNKNOWN
    left = read_memory_left(root)
    return max(_LEAST, int((available if left is None else min(available, left)) * _SHARE))


def cause_of(log: str, graph: Graph) -> Cause | None:
    """The fault that a stage's log names, as `stackfix diagnose` would; None: it names none."""
    from stackfix.diagnose import diagnose
    from stackfix.diagnose.files import LogError

    with tempfile.TemporaryDirectory(prefix="stackfix-log-") as folder:
        file = Path(folder) / "stage.log"
        file.write_text(log, encoding="utf-8", errors="replace")
        try:
            found = diagnose([str(file)], graph=graph)
        except LogError:
            return None
    if not found.found:
        return None
    return Cause(
        family=found.family.name,
        meaning=found.family.meaning,
        line=found.cause[0].text,
        fixes=found.remedies or found.family.remedies,
    )


def stage_result(
    name: str, title: str, file: Path, ran: ProcessRun, limits: ProcessLimits
) -> StageResult:
    """The stage's result from the JSON lines in `file` and from how its process ended."""
    checks, facts, open_check, ended = _read(file)
    problem = _problem(ran.ending, limits, ended)
    if problem:
        where = f" in “{open_check}”" if open_check else ""
        checks.append(
            Check(name=open_check or "the process", outcome=Outcome.FAILED, detail=problem)
        )
        problem = f"{problem}{where}"
    outcome, reason = _outcome(checks, problem)
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
        elif event in list(Outcome) and len(checks) < _REPORT_CHECKS:
            begun = None
            detail = " ".join(str(told.get("detail", "")).split())
            checks.append(Check(name=str(told.get("check")), outcome=Outcome(event), detail=detail))
    return checks, facts, begun, ended


def _lines(file: Path) -> list[dict[str, Any]]:
    try:
        with file.open("rb") as opened:
            data = opened.read(_REPORT_BYTES)
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


def _problem(ending: ProcessEnding, limits: ProcessLimits, ended: bool) -> str:
    """What is wrong with the way it ended; "" for nothing."""
    if ending.limit == "time":
        return f"hung: not done after {limits.seconds:.0f} s"
    if ending.limit == "memory":
        return f"took more than the {limits.memory >> 20:,} MiB of memory that it may have"
    if ending.signal:
        meaning = _SIGNALS.get(ending.signal)
        return f"crashed with {ending.signal}" + (f": {meaning}" if meaning else "")
    if ending.exit_code is None:
        return "could not be ended: it sits in a call into the driver"
    if not ended:
        return f"stopped with exit code {ending.exit_code} before its end"
    # A kernel that came to its end says 1 for failed checks; more is a fault while leaving.
    if ending.exit_code > 1:
        return f"ended with exit code {ending.exit_code}"
    return ""


def _outcome(checks: list[Check], problem: str) -> tuple[Outcome, str]:
    skipped = [check for check in checks if check.outcome is Outcome.SKIPPED]
    if problem:
        return Outcome.FAILED, problem
    if failure := failure_in(checks):
        return Outcome.FAILED, failure
    if skipped and len(skipped) == len(checks):
        return Outcome.SKIPPED, skipped[0].detail
    return Outcome.PASSED, ""
