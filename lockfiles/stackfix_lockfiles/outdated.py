"""Whether a lock still fits the project's files, as far as that is to be seen without uv.

A lock records what each member asked for when it was made, in `package.metadata`, and the root's
constraints and overrides in `manifest`. Where the files ask for something else today, `uv lock
--check` fails and `uv sync` locks anew. uv rewrites markers, so those are not compared, and of the
sources only an index that holds everywhere: a difference that is named is one; that none is named
proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from stackfix_index.names import normalized
from stackfix_lockfiles.errors import without_credentials
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.packages import LockedPackage, LockedRequirement, PackageMetadata
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.pyproject import Pyproject
from stackfix_lockfiles.requirement import read_requirement

__all__ = ["Difference", "differences"]

_EXTRA = re.compile(r"""extra\s*==\s*(?:'([^']*)'|"([^"]*)")""")
_MINORS = tuple(f"3.{minor}.{patch}" for minor in range(7, 20) for patch in (0, 9))
_DYNAMIC = {"dependencies": "", "optional-dependencies": "extra"}
"""The scopes that only a build could tell."""

Scope = str
""" "" for the project's own dependencies, "extra cu128", "group dev", "constraint", "override"."""
MEMBER = "member"
"""Scope of a whole project that is new in the workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One package of which the project asks something else than its lock was made for."""

    name: str
    """Normalised; "python" for the range of Pythons."""
    file: Path
    """The pyproject.toml, relative to the root."""
    line: int | None
    """1-based; None where the requirement is gone."""
    where: Scope
    asked: str | None
    """The requirement as it stands, without its marker; None: it is gone."""
    recorded: str | None
    """The same when the lock was made; None: it is new."""

    def __str__(self) -> str:
        place = f"{self.file} line {self.line}" if self.line else str(self.file)
        if self.where == MEMBER:
            return f"{self.file} is a member of the workspace that the lock was made without"
        scope = f", {self.where}" if self.where else ""
        if self.asked is None:
            return f"{place}{scope} no longer asks for {self.recorded}"
        if self.recorded is None:
            return f"{place}{scope} asks for {self.asked}, which the lock was made without"
        return f"{place}{scope} asks for {self.asked}, and the lock was made for {self.recorded}"


def differences(project: Project, lock: Lock) -> tuple[Difference, ...]:
    """Where the project's requirements are not those that the lock records.

    Of an array that is not written as uv reads it nothing is claimed: uv says what is wrong there.

    Raises:
        InputError: what should be a table of a pyproject.toml is none.
    """
    found = [one for file in project.files for one in _of_member(file, project, lock)]
    found += _of_python(project, lock)
    manifest = lock.manifest
    for scope, recorded in (
        ("constraint", manifest.constraints),
        ("override", manifest.overrides),
    ):
        keys = ("tool", "uv", f"{scope}-dependencies")
        try:
            asked = list(_array(project.main, keys, scope))
        except _NoRequirement:
            continue
        known = [_Entry.recorded(one, scope) for one in recorded]
        found += _compared(asked, known, project.main)
    return tuple(found)


class _NoRequirement(Exception):
    """Something is no requirement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A requirement in the form in which both sides are compared."""

    name: str
    scope: Scope
    extras: frozenset[str]
    clauses: frozenset[str]
    """Of the specifier, without spaces."""
    anywhere: bool
    """Whether versions say nothing: it comes from git, a URL or a path."""
    index: str | None = None
    """The index that a source names for it; "" for none, None where that is not told."""
    place: tuple[str | int, ...] = ()
    """Where it stands in the file."""

    @classmethod
    def written(cls, text: object, scope: Scope, place: tuple[str | int, ...]) -> _Entry:
        found = read_requirement(text) if isinstance(text, str) else None
        if found is None:
            raise _NoRequirement
        return cls(
            name=found.name,
            scope=scope,
            extras=found.extras,
            clauses=_clauses(found.specifier),
            anywhere=found.url is not None,
            place=place,
        )

    @classmethod
    def recorded(cls, recorded: LockedRequirement, scope: Scope) -> _Entry:
        return cls(
            name=recorded.name,
            scope=scope,
            extras=frozenset(normalized(extra) for extra in recorded.extras),
            clauses=_clauses(recorded.specifier),
            anywhere=recorded.source is not None,
            index=_address(recorded.index or ""),
        )

    def same(self, other: _Entry) -> bool:
        """Whether both ask for the same, markers and sources aside."""
        if self.extras != other.extras or not self.same_index(other):
            return False
        if self.anywhere or other.anywhere or self.clauses == other.clauses:
            return True
        try:
            return self._specifier() == other._specifier()  # "==1.0" and "==1.0.0" are the same
        except InvalidSpecifier:
            return True  # nothing is claimed of what cannot be read

    def same_index(self, other: _Entry) -> bool:
        """Whether both come from one index, as far as that is told."""
        told = self.index is not None and other.index is not None
        return not told or self.anywhere or other.anywhere or self.index == other.index

    def _specifier(self) -> SpecifierSet:
        return SpecifierSet(",".join(self.clauses))

    def __str__(self) -> str:
        extras = f"[{','.join(sorted(self.extras))}]" if self.extras else ""
        return f"{self.name}{extras}{','.join(sorted(self.clauses, key=_as_written))}"


def _of_member(file: Pyproject, project: Project, lock: Lock) -> Iterator[Difference]:
    if file.name is None:
        return
    package = next((p for p in lock.named(file.name) if p.is_member), None)
    if package is None:
        if lock.members:
            yield Difference(
                name=file.name, file=file.path, line=None, where=MEMBER, asked="", recorded=None
            )
        return
    recorded = package.metadata
    if recorded is None:
        if _edges(package):
            return  # made by hand, or by a uv that did not record it
        recorded = PackageMetadata()
    try:
        homes = _homes(file, project)
        asked = [replace(e, index=homes.get(e.name, "")) for e in _requirements(file)]
    except _NoRequirement:
        return
    known = [_Entry.recorded(one, _recorded_scope(one)) for one in recorded.requires_dist]
    for group, requirements in recorded.requires_dev.items():
        known += [_Entry.recorded(one, f"group {group}") for one in requirements]
    unseen = {scope for key, scope in _DYNAMIC.items() if key in file.dynamic}
    # uv writes what "self[other]" stands for in its place, and only in extras.
    mixed = {e.scope for e in asked if e.name == file.name and e.scope.startswith("extra ")}

    def seen(entry: _Entry) -> bool:
        kind = entry.scope.partition(" ")[0]
        return kind not in unseen and entry.scope not in mixed

    yield from _compared(filter(seen, asked), filter(seen, known), file)


def _homes(file: Pyproject, project: Project) -> Mapping[str, str | None]:
    """The index that a file's source names for a package; None where it depends, or is another."""
    found: dict[str, str | None] = {}
    named: dict[str, str] = {}
    for home in (project.main, file):  # a member's own sources go before the root's
        named |= _named_indexes(home)
        for package, value in home.table("tool", "uv", "sources").items():
            single = isinstance(value, dict) and set(value) == {"index"}
            found[normalized(package)] = named.get(str(value["index"])) if single else None
    return found


def _named_indexes(file: Pyproject) -> dict[str, str]:
    """Indexes by name, read without their lines."""
    entries = file.table("tool", "uv").get("index", [])
    tables = [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    return {str(t["name"]): _address(str(t["url"])) for t in tables if "name" in t and "url" in t}


def _address(url: str) -> str:
    """An index to compare by: uv keeps no credentials in a lock."""
    return without_credentials(url).rstrip("/")


def _edges(package: LockedPackage) -> bool:
    return bool(package.dependencies or package.optional_dependencies or package.dev_dependencies)


def _of_python(project: Project, lock: Lock) -> Iterator[Difference]:
    """The Pythons of all members, by minor version: uv spells a range in its own way."""
    texts = [file.table("project").get("requires-python") for file in project.files]
    stated = [text for text in texts if isinstance(text, str)]
    if not stated or any("requires-python" in file.dynamic for file in project.files):
        return
    try:
        asked = SpecifierSet(",".join(stated))
    except InvalidSpecifier:
        return
    recorded = SpecifierSet(lock.requires_python)
    if asked != recorded and _minors(asked) != _minors(recorded):
        yield Difference(
            name="python",
            file=project.main.path,
            line=project.main.line("project", "requires-python"),
            where="",
            asked=f"Python {','.join(stated)}",
            recorded=f"Python {recorded}",
        )


def _minors(specifier: SpecifierSet) -> list[str]:
    return [text for text in _MINORS if specifier.contains(text)]


def _requirements(file: Pyproject) -> Iterator[_Entry]:
    """All that a member asks for; what a group includes stands under its name too, as in locks."""
    yield from _array(file, ("project", "dependencies"), "")
    for extra in file.table("project", "optional-dependencies"):
        place = ("project", "optional-dependencies", extra)
        yield from _array(file, place, f"extra {normalized(extra)}")
    groups: dict[str, list[_Entry]] = {}
    includes: dict[str, set[str]] = {}
    for group, items in file.table("dependency-groups").items():
        name, keys = normalized(group), ("dependency-groups", group)
        groups.setdefault(name, []).extend(_array(file, keys, f"group {name}"))
        for item in items:
            if isinstance(item, dict):
                includes.setdefault(name, set()).add(normalized(str(item.get("include-group"))))
    legacy = ("tool", "uv", "dev-dependencies")
    groups.setdefault("dev", []).extend(_array(file, legacy, "group dev"))
    for name in groups:
        for other in _reached(name, includes):
            yield from (replace(e, scope=f"group {name}") for e in groups.get(other, ()))


def _reached(group: str, includes: Mapping[str, set[str]]) -> list[str]:
    """A group and all that it includes."""
    found = [group]
    for one in found:
        found += (other for other in sorted(includes.get(one, ())) if other not in found)
    return found


def _array(file: Pyproject, keys: tuple[str, ...], scope: Scope) -> Iterator[_Entry]:
    items = file.table(*keys[:-1]).get(keys[-1], [])
    if not isinstance(items, list):
        raise _NoRequirement
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            yield _Entry.written(item, scope, (*keys, index))


def _compared(
    asked: Iterable[_Entry], known: Iterable[_Entry], file: Pyproject
) -> Iterator[Difference]:
    """What one side has and the other has not: by package and scope, old and new beside."""
    asked_by, known_by = _grouped(asked), _grouped(known)
    for key in dict.fromkeys((*asked_by, *known_by)):
        scope, name = key
        new = [a for a in asked_by.get(key, ()) if not any(map(a.same, known_by.get(key, ())))]
        old = [k for k in known_by.get(key, ()) if not any(map(k.same, asked_by.get(key, ())))]
        if new or old:
            yield Difference(
                name=name,
                file=file.path,
                line=file.line(*new[0].place) if new else None,
                where=scope,
                asked=_told(new[0], old[:1]) if new else None,
                recorded=_told(old[0], new[:1]) if old else None,
            )


def _told(entry: _Entry, others: Sequence[_Entry]) -> str:
    """A requirement, with its index where that is what sets it apart."""
    if all(map(entry.same_index, others)):
        return str(entry)
    return f"{entry} from {entry.index or 'no index of its own'}"


def _grouped(entries: Iterable[_Entry]) -> Mapping[tuple[Scope, str], list[_Entry]]:
    found: dict[tuple[Scope, str], list[_Entry]] = {}
    for entry in entries:
        found.setdefault((entry.scope, entry.name), []).append(entry)
    return found


def _recorded_scope(recorded: LockedRequirement) -> Scope:
    """The extra that a recorded requirement belongs to, which is in its marker."""
    found = _EXTRA.search(recorded.marker or "")
    return f"extra {normalized(found[1] or found[2] or '')}" if found else ""


def _clauses(specifier: str) -> frozenset[str]:
    return frozenset("".join(clause.split()) for clause in specifier.split(",") if clause.strip())


def _as_written(clause: str) -> tuple[bool, str]:
    """Lower bounds first, as people write them."""
    return (clause.startswith(("<", "!")), clause)
