"""Logs for tests: written to a folder, or read straight from text."""

from __future__ import annotations

import io
from pathlib import Path

from stackfix.diagnose import diagnose
from stackfix.diagnose.diagnosis import Diagnosis
from stackfix.diagnose.events import LogReading, read_log
from stackfix.diagnose.facts import RunFacts

__all__ = ["diagnose_text", "read_text"]


def diagnose_text(folder: Path, **logs: str) -> Diagnosis:
    """The diagnosis of logs given by name, without ".log"."""
    paths = []
    for name, text in logs.items():
        path = folder / f"{name}.log"
        path.write_text(text)
        paths.append(str(path))
    return diagnose(paths)


def read_text(text: str, facts: RunFacts | None = None, name: str = "run.log") -> LogReading:
    """One log read into events."""
    return read_log(io.BytesIO(text.encode()), name, facts if facts is not None else RunFacts())
