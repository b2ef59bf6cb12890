"""Where text goes: terminals get colour and progress, pipes get neither."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_PROGRESS = """
import time
from stackfix.report.text import output_console, progress
with progress() as tell:
    tell("asking the index\\n[red]for torch[/red]" + "x" * 500)
    time.sleep(0.3)
console = output_console()
console.print("width", console.width)
"""


def in_a_pipe(**settings: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if key not in {"COLUMNS", "FORCE_COLOR"}}
    return subprocess.run(
        [sys.executable, "-c", _PROGRESS],
        env=env | settings,
        capture_output=True,
        text=True,
        check=True,
    )


def on_a_terminal(folder: Path) -> str:
    pty = pytest.importorskip("pty")
    script = folder / "script.py"
    script.write_text(_PROGRESS)
    ours, theirs = pty.openpty()
    env = os.environ | {"TERM": "xterm-256color", "COLUMNS": "60"}
    child = subprocess.Popen(
        [sys.executable, str(script)], stdin=theirs, stdout=theirs, stderr=theirs, env=env
    )
    os.close(theirs)
    text = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # Linux: the other side is gone
            break
        if not chunk:
            break
        text += chunk
    os.close(ours)
    assert child.wait(timeout=20) == 0
    return text.decode()


def test_a_pipe_gets_no_progress_and_a_readable_width() -> None:
    done = in_a_pipe()
    assert (done.stdout, done.stderr) == ("width 100\n", "")


def test_a_pipes_width_can_be_chosen() -> None:
    assert in_a_pipe(COLUMNS="72").stdout == "width 72\n"


def test_a_terminal_shows_progress_in_one_line_and_clears_it(tmp_path: Path) -> None:
    text = on_a_terminal(tmp_path)
    assert "asking the index [red]for torch[/red]" in text
    assert "x" * 100 not in text
    assert "\x1b[?25h" in text  # the cursor comes back
    assert "width 60" in text
