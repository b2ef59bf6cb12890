"""The uv that locks: which one, how old, and running it without losing control of it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from stackfix_lockfiles.errors import InputError, LockfilesError, printable
from stackfix_lockfiles.uv.variables import environment

__all__ = ["MINIMUM", "Finished", "TimedOut", "Uv", "in_one_line"]

MINIMUM = Version("0.9")
"""The oldest uv that is used: the oldest one that this package may depend on."""

_VERSION = re.compile(r"uv(?:\.exe)? (\d+(?:\.\d+)+)")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_FRAME = re.compile("[│├╰╭─▶×]")
_KEPT_LINES = 4000
_LONGEST_LINE = 64 * 1024
_GRACE = 3.0
"""Seconds between asking a process to end and ending it."""


class TimedOut(LockfilesError):
    """uv did not finish in time; it and its children were ended."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"uv did not finish within {seconds:.0f} s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """How a run of uv ended."""

    returncode: int
    stdout: str
    """The last 4,000 lines."""
    stderr: str
    """The last 4,000 lines, without ANSI sequences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uv:
    """One uv executable."""

    path: Path
    version: Version
    bundled: bool
    """Whether it is the one installed beside this package instead of the user's own."""

    @classmethod
    def find(cls, required: str | None = None) -> Uv:
        """The user's uv from PATH, else the one installed with this package.

        `required` is the project's `required-version`; a uv that it excludes is passed over.

        Raises:
            InputError: there is none, or each is too old or excluded.
        """
        wanted = _specifier(required)
        refused: list[str] = []
        for path, bundled in _candidates():
            version = _version(path)
            if version is None:
                refused.append(f"{path} does not run")
            elif version < MINIMUM:
                refused.append(f"{path} is {version}")
            elif wanted is not None and not wanted.contains(version, prereleases=True):
                refused.append(f"{path} is {version}, the project requires {required}")
            else:
                return cls(path=path, version=version, bundled=bundled)
        found = "; ".join(refused) or "none on PATH and none installed beside stackfix"
        raise InputError("uv", f"expected uv {MINIMUM} or newer, found {found}")

    def run(
        self,
        args: Sequence[str],
        *,
        cwd: Path,
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Finished:
        """Run uv and wait for it. It gets the variables of `environment(settings)`.

        `progress` gets each line of stderr as it comes, from another thread. Ctrl-C or any other
        exception here, and `timeout` (seconds), end uv together with its children.

        Raises:
            TimedOut: it took longer than `timeout`.
            InputError: it cannot be started.
        """
        try:
            process = subprocess.Popen(
                [str(self.path), *args],
                cwd=cwd,
                env=environment(settings or {}),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InputError(self.path, f"expected a uv that runs: {reason}") from error
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            out = _Reader(process.stdout, None)
            err = _Reader(process.stderr, progress)
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                raise TimedOut(timeout or 0.0) from None
            finally:
                _end(process)
                out.join(_GRACE)
                err.join(_GRACE)
        return Finished(returncode=process.returncode, stdout=out.text(), stderr=err.text())


def in_one_line(said: str) -> str:
    """What uv said as one line of words, whatever frames and line breaks are between them."""
    return " ".join(_FRAME.sub(" ", said).split())


class _Reader(threading.Thread):
    """Drains one pipe, keeps its last lines, and passes each on."""

    def __init__(self, stream: IO[bytes], progress: Callable[[str], None] | None) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._progress = progress
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self.start()

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the pipe may be closed under us
            for raw in iter(lambda: self._stream.readline(_LONGEST_LINE), b""):
                line = _ANSI.sub("", raw.decode("utf-8", "replace")).rstrip("\r\n")
                self._lines.append(line)
                if self._progress is not None and line.strip():
                    self._progress(printable(line.strip()))

    def text(self) -> str:
        return "\n".join(list(self._lines))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process, if it still runs, and whatever it left in its group."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _candidates() -> Iterator[tuple[Path, bool]]:
    bundled = _bundled()
    if (found := shutil.which("uv")) is not None:
        path = Path(found)
        yield path, bundled is not None and os.path.realpath(path) == os.path.realpath(bundled)
    if bundled is not None:
        yield bundled, True


def _bundled() -> Path | None:
    try:
        import uv

        return Path(uv.find_uv_bin())
    except (ImportError, FileNotFoundError):
        return None


def _version(path: Path) -> Version | None:
    try:
        run = subprocess.run(
            [str(path), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
            text=True,
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.match(run.stdout)
    return Version(found[1]) if found and run.returncode == 0 else None


def _specifier(required: str | None) -> SpecifierSet | None:
    if required is None:
        return None
    text = required.strip()
    try:
        return SpecifierSet(f"=={text}" if text[:1].isdigit() else text)
    except InvalidSpecifier:
        return None  # uv says what is wrong with it, with its place
