"""Folders for scratch environments, and what became of them.

Each folder has a lock file beside it that its process holds. The kernel releases it however the
process ends, so the next run knows what nobody uses and takes it away.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

from stackfix_lockfiles.errors import InputError

__all__ = ["VENV", "claimed", "scratch_base", "sweep"]

VENV = "venv"
"""Name of the environment in such a folder."""
_KEPT = ".kept"
_LOCK = ".lock"


def scratch_base() -> Path:
    """Where scratch environments lie: in the user's cache, beside uv's, so that uv can link."""
    base = os.environ.get("XDG_CACHE_HOME")
    root = Path(base) if base and Path(base).is_absolute() else Path.home() / ".cache"
    return root / "stackfix" / "validate"


@contextlib.contextmanager
def claimed(base: Path, *, keep_as: str | None = None) -> Iterator[Path]:
    """A folder of this process alone; removed at the end unless `keep_as` names it for later.

    A kept folder that is there already is taken as it is. Raises InputError where another process
    uses it, or where `base` cannot be written.
    """
    name = keep_as or f"run-{secrets.token_hex(6)}"
    folder = base / name
    try:
        base.mkdir(parents=True, exist_ok=True)
        held = _hold(base / f"{name}{_LOCK}")
    except OSError as error:
        expected = f"expected a folder for scratch environments ({error.strerror})"
        raise InputError(base, expected) from None
    if held is None:
        raise InputError(folder, "expected it to be free: another stackfix is using it")
    try:
        folder.mkdir(exist_ok=True)
        if keep_as:
            (folder / _KEPT).touch()
        yield folder
    finally:
        if keep_as is None:
            _remove(folder)
            with contextlib.suppress(OSError):
                (base / f"{name}{_LOCK}").unlink()
        os.close(held)


def sweep(base: Path) -> tuple[Path, ...]:
    """Remove what killed runs left behind; returns the folders that were removed."""
    swept = []
    for file in sorted(base.glob(f"*{_LOCK}")) if base.is_dir() else ():
        folder = file.with_suffix("")
        if (folder / _KEPT).exists():
            continue
        with contextlib.suppress(OSError):
            held = _hold(file)
            if held is None:
                continue
            try:
                if folder.exists():
                    _end_strays(folder)
                    _remove(folder)
                    swept.append(folder)
                file.unlink()
            finally:
                os.close(held)
    return tuple(swept)


def _hold(file: Path) -> int | None:
    """The open, locked file; None: another process holds it. The lock is gone with the process."""
    import fcntl

    while True:
        number = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(number)
            return None
        # Between opening and locking another process may have swept the very file.
        with contextlib.suppress(FileNotFoundError):
            if os.fstat(number).st_ino == file.stat().st_ino:
                return number
        os.close(number)


def _end_strays(folder: Path) -> None:
    """End the uv that a killed run left at work on its environment, and what uv started.

    They are known by UV_PROJECT_ENVIRONMENT, which nothing else of the user's has set so.
    """
    mark = f"UV_PROJECT_ENVIRONMENT={folder / VENV}".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
