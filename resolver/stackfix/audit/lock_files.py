"""Which files are audited, and how they are read: a uv.lock, a pylock.toml, a requirements.txt."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix_lockfiles import toml
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project, shown

if TYPE_CHECKING:
    from stackfix.audit.inputs.flat import FlatLock

__all__ = ["Kind", "LockFile", "find", "parse", "project_of", "python_beside", "read_bytes"]

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


def read_bytes(file: LockFile) -> bytes:
    """The file's bytes; InputError if it cannot be read."""
    return toml.read_bytes(file.path, name=shown(file.path.absolute()), what=f"a {file.kind}")


def project_of(file: LockFile) -> Project | None:
    """The uv project whose uv.lock this is; None for other files.

    Raises InputError for a project that cannot be read.
    """
    if file.kind is not Kind.UV or not (file.path.parent / "pyproject.toml").is_file():
        return None
    project = Project.find(file.path.parent)
    own = os.path.realpath(project.root) == os.path.realpath(file.path.parent)
    return project if own else None


def parse(data: bytes, kind: Kind, name: str) -> Lock | FlatLock:
    """The lock in a file's bytes; `name` is how errors call the file. Raises InputError."""
    if kind is Kind.UV:
        return Lock.parse(data, name=name)
    if kind is Kind.PYLOCK:
        from stackfix.audit.inputs.pylock import parse_pylock

        return parse_pylock(data, name)
    from stackfix.audit.inputs.requirements import parse_requirements

    return parse_requirements(data, name)


def python_beside(path: Path) -> str | None:
    """What the `.python-version` beside a file says; None without one."""
    try:
        return (path.absolute().parent / ".python-version").read_text(encoding="utf-8")[:100]
    except (OSError, UnicodeDecodeError):
        return None
