"""Scratch folders go with their run, however it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stackfix.validate.folders import claimed, sweep
from stackfix_lockfiles.errors import InputError

_CLAIM = """\
import sys, time
from pathlib import Path
from stackfix.validate.folders import claimed
with claimed(Path(sys.argv[1])) as folder:
    (folder / "file").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


def _claiming(base: Path) -> tuple[subprocess.Popen[str], Path]:
    command = [sys.executable, "-c", _CLAIM, str(base)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    return child, Path(child.stdout.readline().strip())


def _end(child: subprocess.Popen[str], number: int) -> None:
    child.send_signal(number)
    child.communicate(timeout=60)


def test_a_folder_goes_when_its_run_ends(tmp_path: Path) -> None:
    with claimed(tmp_path) as folder:
        (folder / "file").write_text("x")
    assert not list(tmp_path.iterdir())


def test_a_folder_goes_when_its_run_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with claimed(tmp_path):
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not list(tmp_path.iterdir())


def test_a_folder_goes_on_ctrl_c(tmp_path: Path) -> None:
    child, folder = _claiming(tmp_path)
    _end(child, signal.SIGINT)
    assert not folder.exists()


def test_the_next_run_sweeps_what_a_kill_left_behind(tmp_path: Path) -> None:
    child, folder = _claiming(tmp_path)
    _end(child, signal.SIGKILL)
    assert folder.exists()
    assert sweep(tmp_path) == (folder,)
    assert not list(tmp_path.iterdir())


def test_a_folder_in_use_is_not_swept(tmp_path: Path) -> None:
    child, folder = _claiming(tmp_path)
    try:
        assert sweep(tmp_path) == ()
        assert (folder / "file").exists()
    finally:
        _end(child, signal.SIGKILL)


def test_a_kept_folder_stays_and_is_taken_again(tmp_path: Path) -> None:
    with claimed(tmp_path, keep_as="kept-1") as folder:
        (folder / "file").write_text("x")
    assert sweep(tmp_path) == ()
    with claimed(tmp_path, keep_as="kept-1") as again:
        assert again == folder
        assert (again / "file").read_text() == "x"


def test_a_kept_folder_that_another_run_uses_is_refused(tmp_path: Path) -> None:
    with claimed(tmp_path, keep_as="kept-1"):
        begun = time.monotonic()
        with (
            pytest.raises(InputError, match="another stackfix"),
            claimed(tmp_path, keep_as="kept-1"),
        ):
            pass
        assert time.monotonic() - begun < 20
