"""Running a kernel as a stage does: by a Python, within limits, with fakes in its path."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from stackfix.validate.process import ProcessLimits, run_limited
from stackfix.validate.python import KERNELS
from stackfix.validate.result import StageResult
from stackfix.validate.runner import stage_result

FAKES = Path(__file__).parent / "fakes"
LIMITS = ProcessLimits(seconds=60, memory=1 << 30)


def run_kernel(
    name: str,
    folder: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    limits: ProcessLimits = LIMITS,
    python: str = sys.executable,
    fakes: bool = True,
) -> StageResult:
    """What the stage would report."""
    told = folder / "told.jsonl"
    told.unlink(missing_ok=True)
    paths = {"PYTHONPATH": str(FAKES), "PYTHONDONTWRITEBYTECODE": "1"} if fakes else {}
    ran = run_limited(
        [python, str(KERNELS / f"{name}.py"), *arguments, "--json", str(told)],
        cwd=folder,
        env={**os.environ, **paths, **(env or {})},
        limits=limits,
    )
    return stage_result(name, name, told, ran, limits)
