"""Running the stages one after the other; a stage that fails stops none of the others."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from stackfix.host.files import read
from stackfix.host.system import read_memory_left
from stackfix.validate.cause import cause_of
from stackfix.validate.events import told_by
from stackfix.validate.process import run_limited
from stackfix.validate.result import Check, Outcome, StageResult
from stackfix.validate.stages import Stage
from stackfix_knowledge.graph import Graph

__all__ = ["STAGE", "allowed_memory", "run_stages", "stage_environment"]

STAGE = "stage-"
"""How the folder of one stage is called, which goes with it."""

_SHARE = 0.8
"""Of the memory that is free: the rest of the machine has to live on."""
_UNKNOWN = 8 << 30
_LEAST = 1 << 30
"""Frameworks do not even start with less; where there is less, the kernel decides."""


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
        file = Path(folder) / "told.jsonl"
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
        return told_by(stage.name, stage.title, file, ran, stage.limits)


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
