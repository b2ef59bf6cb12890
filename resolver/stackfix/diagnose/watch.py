"""Following a log that is being written, until a cause stands in it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from stackfix.diagnose import diagnose
from stackfix.diagnose.diagnosis import Diagnosis
from stackfix.diagnose.files import LogError

__all__ = ["variables", "watch"]

INTERVAL = 2.0
"""Seconds between two looks."""
SETTLED = 2
"""Looks without growth after which what was found is told: the other ranks have then spoken."""


def watch(
    paths: list[str],
    *,
    interval: float = INTERVAL,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Diagnosis]:
    """Yield a diagnosis each time that a cause appears or changes; never ends by itself.

    A log that is missing yet, or that starts anew, is waited for.
    """
    sizes: tuple[int, ...] | None = None
    quiet = 0
    told: tuple[str, ...] | None = None
    pending: Diagnosis | None = None
    while True:
        now = _sizes(paths)
        if now != sizes:
            sizes, quiet = now, 0
            pending = _look(paths)
        else:
            quiet += 1
        if pending is not None and pending.found and quiet >= SETTLED:
            key = (pending.family.name, *(event.where for event in pending.cause))
            if key != told:
                told = key
                yield pending
            pending = None
        sleep(interval)


def variables(diagnosis: Diagnosis) -> dict[str, str]:
    """What a command that is run for a cause finds in its environment."""
    first = diagnosis.cause[0]
    return {
        "STACKFIX_FAMILY": diagnosis.family.name,
        "STACKFIX_RANK": "" if diagnosis.rank is None else str(diagnosis.rank),
        "STACKFIX_FILE": first.file,
        "STACKFIX_LINE": str(first.line),
    }


def _look(paths: list[str]) -> Diagnosis | None:
    try:
        return diagnose(paths)
    except LogError:
        return None


def _sizes(paths: list[str]) -> tuple[int, ...]:
    sizes = []
    for text in paths:
        path = Path(text)
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            try:
                sizes.append(file.stat().st_size)
            except OSError:
                sizes.append(-1)
    return tuple(sizes)
