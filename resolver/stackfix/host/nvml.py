"""Asking NVML, in a child process: a wedged driver hangs its callers, some beyond any signal.

The child is `nvml_child.py`. The parent waits a bounded time and goes on without an answer.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from stackfix.errors import StackfixError
from stackfix.host.host import Card, CardLink

__all__ = ["TIMEOUT", "NvmlAnswer", "NvmlUnavailable", "ask"]

TIMEOUT = 10.0
"""Seconds. A healthy driver without persistence mode takes up to about three on eight cards."""


class NvmlUnavailable(StackfixError):
    """NVML gave no answer; the text says why in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmlAnswer:
    """What NVML said; the child prints it as JSON with these keys."""

    cards: tuple[Card, ...]
    driver: str | None
    cuda_driver: str | None
    links: tuple[CardLink, ...]
    notes: tuple[str, ...]


def ask(*, env: Mapping[str, str], timeout: float = TIMEOUT) -> NvmlAnswer:
    """All cards as NVML lists them. Raises NvmlUnavailable, after at most `timeout` + 1 seconds."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "stackfix.host.nvml_child"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        text=True,
    )
    try:
        output, errors = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _abandon(child)
        raise NvmlUnavailable(
            f"NVML gave no answer within {timeout:g} s: the driver hangs, nvidia-smi would too"
        ) from None
    if child.returncode < 0:
        raise NvmlUnavailable(f"NVML crashed with signal {-child.returncode}")
    try:
        answer = json.loads(output)
    except ValueError:
        last = errors.strip().splitlines()[-1:] or [f"exit code {child.returncode}"]
        raise NvmlUnavailable(f"NVML could not be asked: {last[0]}") from None
    if "error" in answer:
        raise NvmlUnavailable(answer["error"])
    try:
        return msgspec.convert(answer, NvmlAnswer)
    except msgspec.ValidationError as error:
        raise NvmlUnavailable(f"NVML tells what no card has: {error}") from None


def _abandon(child: subprocess.Popen[str]) -> None:
    """Kill without waiting for ever: a process inside a hung driver call ignores even SIGKILL."""
    child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=1.0)
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    if child.returncode is None:
        child.returncode = -9  # or Popen's destructor would warn about a process still running
