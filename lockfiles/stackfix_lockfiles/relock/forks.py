"""The forks of an old lock, given up where uv finds no wheels for one of them.

uv starts from the forks that the lock lists, and each needs wheels for all its platforms; forks
that an older uv, or another torch, once asked for can be in the way (one for Macs that are neither
arm64 nor x86_64, where torch has no wheels). Without the list uv forks anew; versions stay as
locked.
"""

from __future__ import annotations

import re
from pathlib import Path

from stackfix_lockfiles.uv import in_one_line

__all__ = ["forget_forks", "in_the_way"]

_NO_WHEELS = re.compile(r"has no \S+-compatible wheels|has no wheels with a matching")
_LISTED = re.compile(r"^resolution-markers = \[\n(?:    .*\n)*\]\n", re.MULTILINE)


def in_the_way(stderr: str) -> bool:
    """Whether uv failed because a fork has no wheels."""
    said = in_one_line(stderr)
    return "for split" in said and _NO_WHEELS.search(said) is not None


def forget_forks(lock: Path) -> bool:
    """Take the list of forks out of a lock file; False if it has none."""
    try:
        head, mark, rest = lock.read_bytes().partition(b"\n[[package]]\n")
    except FileNotFoundError:
        return False
    text, count = _LISTED.subn("", head.decode("utf-8"), count=1)
    if count:
        lock.write_bytes(text.encode("utf-8") + mark + rest)
    return bool(count)
