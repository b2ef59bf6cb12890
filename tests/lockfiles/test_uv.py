"""Which uv is used, and that it never gets out of hand."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from packaging.version import Version

from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.uv import MINIMUM, TimedOut, Uv
from stackfix_lockfiles.uv import program as module


def script(folder: Path, body: str, *, version: str = "0.99.0") -> Path:
    """A stand-in for uv that knows `--version` and else does `body`."""
    folder.mkdir(exist_ok=True)
    path = folder / "uv"
    path.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo uv {version}; exit; fi\n{body}\n'
    )
    path.chmod(0o755)
    return path


def using(path: Path) -> Uv:
    return Uv(path=path, version=Version("0.99"), bundled=False)


def test_the_users_uv_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script(tmp_path, "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Uv.find() == Uv(path=path, version=Version("0.99.0"), bundled=False)


def test_without_one_the_bundled_uv_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = Uv.find()
    assert found.bundled
    assert found.version >= MINIMUM


def test_a_uv_that_is_too_old_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, "exit 0", version="0.4.30")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Uv.find().bundled


def test_a_uv_that_the_project_excludes_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path, "exit 0", version="0.99.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Uv.find("<0.99").bundled
    assert not Uv.find("0.99.0").bundled
    with pytest.raises(InputError, match=r"0\.99\.0, the project requires ==0\.1"):
        Uv.find("==0.1")


def test_no_usable_uv_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_bundled", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"^uv: expected uv 0\.9 or newer, found none on PATH"):
        Uv.find()
    script(tmp_path, "exit 0", version="0.4.30")
    with pytest.raises(InputError, match=r"found .*uv is 0\.4\.30$"):
        Uv.find()


def test_output_is_kept_and_passed_on_without_colours(tmp_path: Path) -> None:
    uv = using(script(tmp_path, r"printf '\033[31mred\033[0m\n' >&2; echo out; exit 3"))
    lines: list[str] = []
    finished = uv.run(["lock"], cwd=tmp_path, progress=lines.append)
    assert (finished.returncode, finished.stdout, finished.stderr) == (3, "out", "red")
    assert lines == ["red"]


def test_endless_output_is_bounded(tmp_path: Path) -> None:
    uv = using(script(tmp_path, "yes abc | head -c 8000000 >&2; echo end >&2"))
    finished = uv.run(["lock"], cwd=tmp_path)
    assert finished.stderr.endswith("\nend")
    assert len(finished.stderr) < 100_000


def test_a_timeout_ends_uv_and_its_children(tmp_path: Path) -> None:
    uv = using(script(tmp_path, "sleep 60 & echo $! > child; sleep 60"))
    start = time.monotonic()
    with pytest.raises(TimedOut):
        uv.run(["lock"], cwd=tmp_path, timeout=0.5)
    assert time.monotonic() - start < 30
    assert not _lives(int((tmp_path / "child").read_text()))


def test_ctrl_c_ends_uv_and_its_children(tmp_path: Path) -> None:
    uv = using(script(tmp_path, "sleep 60 & echo $! > child; sleep 60"))
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        uv.run(["lock"], cwd=tmp_path, timeout=30)
    timer.join()
    assert not _lives(int((tmp_path / "child").read_text()))


def test_a_stubborn_process_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_GRACE", 0.3)
    uv = using(script(tmp_path, "trap '' TERM; while true; do sleep 0.1; done"))
    with pytest.raises(TimedOut):
        uv.run(["lock"], cwd=tmp_path, timeout=0.3)


def test_a_file_that_is_no_program_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "uv"
    path.write_text("no program")
    with pytest.raises(InputError, match="expected a uv that runs"):
        using(path).run(["lock"], cwd=tmp_path)


def _lives(process: int) -> bool:
    for _ in range(50):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        if Path(f"/proc/{process}/stat").exists():
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
            if state == "Z":
                return False
        time.sleep(0.05)
    return True
