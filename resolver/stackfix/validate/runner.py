"""Running the stages one after the other; a stage that fails stops none of the others."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from stackfix.validate.cause import cause_of
from stackfix.validate.events import told_by
from stackfix.validate.process import run_limited
from stackfix.validate.result import Check, Outcome, StageResult
from stackfix.validate.stages import Stage
from stackfix_knowledge.graph import Graph

__all__ = ["allowed_memory", "run_stages", "stage_environment"]

_SHARE = 0.8
"""Of the memory that is free: the rest of the machine has to live on."""


def run_stages(
    found: Iterable[Stage],
    *,
    env: Mapping[str, str],
    graph: Graph,
    progress: Callable[[str], None] = lambda text: None,
) -> Iterable[StageResult]:
    """The result of each stage, as soon as it is there."""
    for stage in found:
        if stage.skip is not None:
            yield StageResult(
                name=stage.name, title=stage.title, outcome=Outcome.SKIPPED, reason=stage.skip
            )
            continue
        progress(stage.title)
        result = _run(stage, env)
        if result.outcome is Outcome.FAILED and result.log.strip():
            progress(f"{stage.title}: reading its log")
            result = replace(result, cause=cause_of(result.log, graph))
        yield result


def _run(stage: Stage, env: Mapping[str, str]) -> StageResult:
    with tempfile.TemporaryDirectory(prefix="stackfix-stage-") as folder:
        file = Path(folder) / "told.jsonl"
        empty = Path(folder) / "empty"  # what lies in the user's folder hides no package
        empty.mkdir()
        flag = () if stage.name == "code" else ("--json",)
        # What a kernel generates goes with it, so that nothing older stands in for it.
        caches = {
            "TORCHINDUCTOR_CACHE_DIR": str(Path(folder) / "inductor"),
            "TRITON_CACHE_DIR": str(Path(folder) / "triton"),
            "JAX_ENABLE_COMPILATION_CACHE": "false",
        }
        try:
            ran = run_limited(
                (*stage.command, *flag, str(file)),
                cwd=empty,
                env={**dict(stage.env), **env, **caches},
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
    """Bytes that a stage may take: most of what the machine, or a cgroup around us, has free."""
    available = 8 << 30
    for line in _read(root / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            available = int(line.split()[1]) << 10
    return int(min([available, *_free_in_groups(root)]) * _SHARE)


def _free_in_groups(root: Path) -> Iterator[int]:
    """Bytes free below the limit of each cgroup (version 2) that this process is in."""
    own = _read(root / "proc/self/cgroup").partition("0::/")[2].split("\n")[0]
    top = root / "sys/fs/cgroup"
    # Seen from another namespace it may lie outside: "/../other".
    place = Path(os.path.normpath(top / own))
    for group in (place, *place.parents) if place.is_relative_to(top) else (top,):
        if not group.is_relative_to(top):
            return
        limit = _read(group / "memory.max").strip()
        used = _read(group / "memory.current").strip()
        if limit.isdecimal() and used.isdecimal():
            # Files that were read count as used until something else wants the room: a container
            # that has just installed a stack would seem to be full.
            yield max(0, int(limit) - int(used) + _cached(group))


def _cached(group: Path) -> int:
    lines = (line.split() for line in _read(group / "memory.stat").splitlines())
    return sum(int(value) for name, value in lines if name in ("active_file", "inactive_file"))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(1 << 16).decode("ascii", "replace")
    except OSError:
        return ""
