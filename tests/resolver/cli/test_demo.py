"""The story that the README tells, on the real index."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = Path(__file__).parents[2] / "fixtures/demo.sh"
_TARGET = "RTX 5090:4@570.133.07"


@pytest.mark.network
def test_the_demo_ends_with_nothing_left_to_do(tmp_path: Path) -> None:
    programs = Path(sys.executable).parent
    env = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "UV_PYTHON": sys.executable,
    }
    done = subprocess.run(
        ["sh", str(_SCRIPT), _TARGET, str(tmp_path / "demo")],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    before, _, after = done.stdout.partition("wrote pyproject.toml, uv.lock")
    assert "Moves together" in before
    assert "torch 2.7.1" in before
    assert "Nothing to do" in after
