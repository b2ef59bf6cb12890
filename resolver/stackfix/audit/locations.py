"""Where findings stand: the package in the lock, the requirement in pyproject.toml."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project

if TYPE_CHECKING:
    from stackfix.audit.inputs.flat import FlatLock

__all__ = ["Location", "Locations", "in_repository"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A line of a file."""

    file: str
    """Relative to the repository, with forward slashes."""
    line: int


@lru_cache(maxsize=4096)
def _repository(folder: Path) -> Path:
    """The folder with `.git` at or above; the current folder where there is none."""
    for place in (folder, *folder.parents):
        if (place / ".git").exists():
            return place
    return Path.cwd()


def in_repository(path: Path) -> str:
    """A path as reports for a repository name it: relative to its root, with forward slashes."""
    whole = Path(os.path.abspath(path))
    return Path(os.path.relpath(whole, _repository(whole.parent))).as_posix()


class Locations:
    """Finds lines, when lines are wanted."""

    def __init__(
        self, lock: Lock | FlatLock, project: Project | None, path: Path, *, wanted: bool
    ) -> None:
        self._lock = lock
        self._project = project
        self._wanted = wanted
        self.path = in_repository(path)

    def lock(self, package: str, version: str) -> Location | None:
        """The line of a package in the lock; its first line for what is no package of it."""
        if not self._wanted:
            return None
        same = [one for one in self._lock.packages if one.name == package]
        exact = [one for one in same if one.version == version] or same
        line = self._lock.line_of(exact[0]) if exact else 1
        return Location(file=self.path, line=line or 1)

    def declared(self, package: str, via: Sequence[str], *, override: bool) -> Location | None:
        """The requirement that brings a package: its own, else that of the chain's first step."""
        if not self._wanted or self._project is None:
            return None
        if override:
            for found in self._project.overrides:
                if found.name == package:
                    return self._location(found.file, found.line)
        for name in (package, *via):
            if (place := self._declarations.get(name)) is not None:
                return self._location(*place)
        return None

    @cached_property
    def _declarations(self) -> dict[str, tuple[Path, int]]:
        assert self._project is not None
        found: dict[str, tuple[Path, int]] = {}
        for declared in self._project.requirements:
            found.setdefault(declared.name, (declared.file, declared.line))
        return found

    def _location(self, file: Path, line: int) -> Location:
        assert self._project is not None
        return Location(file=in_repository(self._project.root / file), line=line)
