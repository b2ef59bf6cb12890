"""The gate: `stackfix check` beside `uv lock --check` as whole processes, and a thousand locks."""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from stackfix_lockfiles.uv import Uv

__all__ = ["against_uv", "many_locks"]

_ROUNDS = 10
_COPIES = 1000


def against_uv(project: Path, target: str) -> tuple[float, float]:
    """Median seconds of the check and of uv's, turn by turn so that both have the same machine."""
    ours = [_stackfix(), "check", str(project), "--target", target]
    theirs = [str(Uv.find().path), "lock", "--check"]
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(_ROUNDS + 1):
        for command, found in zip((ours, theirs), times, strict=True):
            seconds = _seconds(command, project)
            if number:  # the first fills the caches
                found.append(seconds)
    return statistics.median(times[0]), statistics.median(times[1])


def many_locks(corpus: Path, folder: Path, targets: Sequence[str]) -> tuple[float, float, int]:
    """Wall and processor seconds for a thousand copies of the corpus' locks, and how many it is."""
    projects = sorted(path for path in corpus.iterdir() if (path / "uv.lock").is_file())
    count = 0
    while count < _COPIES:
        for project in projects[: _COPIES - count]:
            shutil.copytree(project, folder / f"{count:04}-{project.name}")
            count += 1
    command = [_stackfix(), "check", str(folder)]
    command += [part for target in targets for part in ("--target", target)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = _seconds(command, folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, count


def _stackfix() -> str:
    return os.fspath(Path(sys.executable).with_name("stackfix"))


def _seconds(command: Sequence[str], folder: Path) -> float:
    begun = time.perf_counter()
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return time.perf_counter() - begun
