"""Running one stage: in a process of its own, within limits, and whatever happens is a result."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from stackfix.validate.result import ProcessEnding

__all__ = ["ProcessLimits", "ProcessRun", "run_limited"]

_HEAD = 16 << 10
_TAIL = 48 << 10
"""Bytes of output that are kept: the first error is at the beginning, the last word at the end."""
_SAMPLE = 0.2
"""Seconds between looks at the memory."""
_ABANDON = 5.0
"""Seconds after SIGKILL: what then still lives is inside a driver call that nothing ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits:
    """What a stage may take."""

    seconds: float
    memory: int
    """Bytes of its own (not of files or of the card) that it and its children may have.

    Sampled, not set with RLIMIT_AS: CUDA reserves more address space than any machine has.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRun:
    """How it ended, and what it printed on both streams."""

    ending: ProcessEnding
    log: str


def run_limited(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], limits: ProcessLimits
) -> ProcessRun:
    """Run and wait; on any exception here, as on Ctrl-C, end the process and its children.

    Raises OSError where it cannot be started at all.
    """
    begun = time.monotonic()
    process = subprocess.Popen(
        list(command),
        cwd=cwd,
        env={**env, "STACKFIX_PARENT": str(os.getpid())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    _no_core(process.pid)
    assert process.stdout is not None
    output = _Output(process.stdout)
    limit: Literal["time", "memory"] | None = None
    peak = 0
    try:
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_SAMPLE)
                break
            peak = max(peak, own_memory(process.pid))
            if peak > limits.memory:
                limit = "memory"
                break
            if time.monotonic() - begun > limits.seconds:
                limit = "time"
                break
    finally:
        _end(process)
        output.join(1.0)
        # A child that left the session may hold the pipe open; closing waits for no one.
        if not output.is_alive():
            process.stdout.close()
    code = process.returncode
    ending = ProcessEnding(
        exit_code=code if code is not None and code >= 0 else None,
        signal=_signal(code) if code is not None and code < 0 and limit is None else None,
        limit=limit,
        seconds=time.monotonic() - begun,
        memory=peak,
    )
    if code is None:
        process.returncode = -signal.SIGKILL  # or its destructor would warn that it still runs
    return ProcessRun(ending=ending, log=output.text())


class _Output(threading.Thread):
    """Drains a pipe and keeps its beginning and its end."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._head = b""
        self._tail = b""
        self._lost = 0
        self.start()

    def run(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(self._stream.fileno(), 1 << 16):
                room = _HEAD - len(self._head)
                self._head += data[:room]
                self._tail += data[room:] if room > 0 else data
                surplus = len(self._tail) - _TAIL
                if surplus > 0:
                    self._lost += surplus
                    self._tail = self._tail[surplus:]

    def text(self) -> str:
        gap = f"\n[{self._lost:,} bytes left out]\n".encode() if self._lost else b""
        return (self._head + gap + self._tail).decode("utf-8", "replace")


def own_memory(session: int) -> int:
    """Bytes that belong to the processes of a session alone: resident, without mapped files."""
    total = 0
    page = os.sysconf("SC_PAGE_SIZE")
    for entry in os.listdir("/proc"):
        if not entry.isdecimal():
            continue
        try:
            if os.getsid(int(entry)) != session:
                continue
            with open(f"/proc/{entry}/statm", "rb") as file:
                fields = file.read().split()
        except OSError:  # it ended meanwhile
            continue
        total += (int(fields[1]) - int(fields[2])) * page
    return total


def _no_core(pid: int) -> None:
    """A crash is a result; a core file of many gigabytes beside it is none."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it and all its session, within seconds, even if it sits in a hung driver call."""
    for pid in _session(process.pid):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_ABANDON)


def _session(session: int) -> list[int]:
    found = [session]
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if entry.isdecimal() and os.getsid(int(entry)) == session:
                found.append(int(entry))
    return found


def _signal(code: int) -> str:
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
