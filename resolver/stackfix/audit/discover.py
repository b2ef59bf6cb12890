"""Which files are checked: those that are named, and every uv.lock below the folders named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from stackfix_lockfiles.errors import InputError

__all__ = ["Kind", "LockFile", "find"]

_SKIPPED = frozenset({"node_modules", "environment-packages", "__pycache__"})
"""Folders that hold other people's projects. Hidden ones (.venv, .git, .tox) are skipped too."""


class Kind(StrEnum):
    """Formats that can be judged."""

    UV = "uv.lock"
    PYLOCK = "pylock.toml"
    REQUIREMENTS = "requirements.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class LockFile:
    """A file to check."""

    path: Path
    """As it was named or found; relative paths stay relative to the current folder."""
    kind: Kind
    named: bool
    """Whether someone named this very file."""


def find(paths: Iterable[Path]) -> Iterator[LockFile]:
    """The files, in order and each once; folders are walked as the results are asked for.

    Raises InputError for a path that does not exist, a file that is none of the kinds, and a folder
    without a uv.lock.
    """
    seen: set[str] = set()
    named = list(paths)
    for path in named:  # before the first result is out
        if not path.exists():
            raise InputError(path, "expected a uv.lock or a folder, found nothing")
    for path in named:
        if path.is_dir():
            none = True
            for lock in _below(path):
                none = False
                if (key := os.path.realpath(lock)) not in seen:
                    seen.add(key)
                    yield LockFile(path=lock, kind=Kind.UV, named=False)
            if none:
                raise InputError(path, "expected a uv.lock in it or below, found none")
        elif (key := os.path.realpath(path)) not in seen:
            seen.add(key)
            yield LockFile(path=path, kind=_kind(path), named=True)


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f[:1] != "." and f not in _SKIPPED)
        if "uv.lock" in files:
            yield Path(place, "uv.lock")


def _kind(path: Path) -> Kind:
    name = path.name
    if name == "pyproject.toml":
        expected = f"expected a lock file; name its folder ({path.parent}) or its uv.lock"
        raise InputError(path, expected)
    if name == "uv.lock" or name.endswith(".lock"):
        return Kind.UV
    if name.startswith("pylock.") and name.endswith(".toml"):
        return Kind.PYLOCK
    if name.endswith((".txt", ".in")):
        return Kind.REQUIREMENTS
    raise InputError(path, "expected a uv.lock, a pylock.toml or a requirements.txt")
