"""One file to check, read: its packages, its environments, and what its project says of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stackfix.audit.discover import Kind, LockFile
from stackfix.audit.environments import LockedEnvironments, UvWalker
from stackfix.audit.forks import project_python, pythons
from stackfix.audit.selections import Selection, selections
from stackfix.model.stack import usual_index
from stackfix.rules.sf505_other_index import NamedIndexes
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles import _toml
from stackfix_lockfiles.lock import Lock, LockedPackage
from stackfix_lockfiles.project import Project, shown
from stackfix_lockfiles.pyproject import Pyproject

__all__ = ["EVERYTHING", "Choice", "Subject", "named_indexes", "parse", "project_of", "read_bytes"]


if TYPE_CHECKING:
    from stackfix.audit.inputs.flat import FlatLock


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a person chose of a lock instead of everything."""

    python: str | None = None
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    all_extras: bool = False

    @property
    def is_all(self) -> bool:
        return not (self.extras or self.groups or self.all_extras)


EVERYTHING = Choice()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A lock with its environments."""

    lock: Lock | FlatLock
    places: LockedEnvironments

    @property
    def packages(self) -> tuple[LockedPackage, ...]:
        return self.lock.packages

    @property
    def uv(self) -> Lock | None:
        """The lock as uv wrote it; None for a flat list, which has no edges to be wrong."""
        return self.lock if isinstance(self.lock, Lock) else None


def read_bytes(file: LockFile) -> bytes:
    """The file's bytes; InputError if it cannot be read."""
    return _toml.read_bytes(file.path, name=shown(file.path.absolute()), what=f"a {file.kind}")


def project_of(file: LockFile) -> Project | None:
    """The uv project whose uv.lock this is; None for other files.

    Raises InputError for a project that cannot be read.
    """
    if file.kind is not Kind.UV or not (file.path.parent / "pyproject.toml").is_file():
        return None
    project = Project.find(file.path.parent)
    own = os.path.realpath(project.root) == os.path.realpath(file.path.parent)
    return project if own else None


def parse(
    data: bytes, file: LockFile, name: str, project: Project | None, graph: Graph, choice: Choice
) -> Subject:
    """Read the lock and say which environments of it count. Raises InputError."""
    if file.kind is Kind.UV:
        return _of_uv(Lock.parse(data, name=name), project, graph, choice)
    if file.kind is Kind.PYLOCK:
        from stackfix.audit.inputs.pylock import parse_pylock

        flat = parse_pylock(data, name)
    else:
        from stackfix.audit.inputs.requirements import parse_requirements

        flat = parse_requirements(data, name)
    own = choice.python or project_python(flat.requires_python, _python_beside(file.path))
    places = LockedEnvironments(
        walker=flat, graph=graph, selections=flat.selections, pythons=(own,)
    )
    return Subject(lock=flat, places=places)


def _of_uv(lock: Lock, project: Project | None, graph: Graph, choice: Choice) -> Subject:
    default = project.default_groups if project else ("dev",)
    chosen = project.python_version if project else None
    own = choice.python or project_python(lock.requires_python, chosen)
    forks = (own,) if choice.python else pythons(lock, own, graph.packages.is_stack)
    places = LockedEnvironments(
        walker=UvWalker(lock),
        graph=graph,
        selections=_selected(lock, default, choice),
        pythons=forks,
        lock=lock,
        usual=usual_index(lock.packages),
    )
    return Subject(lock=lock, places=places)


def _selected(lock: Lock, default: tuple[str, ...] | str, choice: Choice) -> tuple[Selection, ...]:
    found = selections(lock, default)
    if choice.is_all:
        return found
    plain = found[0]
    extras = choice.extras
    if choice.all_extras:
        extras = tuple(sorted({extra for one in found for extra in one.extras}))
    groups = tuple(dict.fromkeys((*plain.groups, *choice.groups)))
    return (Selection(extras=extras, groups=groups),)


def _python_beside(path: Path) -> str | None:
    try:
        return (path.absolute().parent / ".python-version").read_text(encoding="utf-8")[:100]
    except (OSError, UnicodeDecodeError):
        return None


def named_indexes(settings: Mapping[str, Any], files: Sequence[Pyproject]) -> NamedIndexes:
    """The indexes that a project names in uv's settings and its files, and for which packages."""
    known: dict[str, str] = {}
    everywhere: set[str] = set()
    default = False
    for table in (settings, *(file.table("tool", "uv") for file in files)):
        for entry in _tables(table.get("index")):
            if not isinstance(entry.get("url"), str):
                continue
            address = entry["url"].rstrip("/")
            known[str(entry.get("name"))] = address
            if entry.get("explicit") is not True:
                everywhere.add(address)
                default = default or entry.get("default") is True
        extra = table.get("extra-index-url", [])
        extra = [extra] if isinstance(extra, str) else extra
        everywhere |= {str(url).rstrip("/") for url in (extra if isinstance(extra, list) else [])}
        if isinstance(table.get("index-url"), str):
            everywhere.add(str(table["index-url"]).rstrip("/"))
            default = True
    by_package: dict[str, set[str]] = {}
    for file in files:
        for package, address in _sources(file, known):
            by_package.setdefault(package, set()).add(address)
    return NamedIndexes(
        everywhere=frozenset(everywhere),
        by_package={name: frozenset(found) for name, found in by_package.items()},
        default=default,
    )


def _sources(file: Pyproject, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    from packaging.utils import canonicalize_name

    for package, value in file.table("tool", "uv", "sources").items():
        for table in _tables(value if isinstance(value, list) else [value]):
            index = table.get("index")
            if isinstance(index, str) and index in known:
                yield str(canonicalize_name(package)), known[index]


def _tables(value: object) -> list[dict[str, Any]]:
    """The tables in an array; what is none is uv's to refuse."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
