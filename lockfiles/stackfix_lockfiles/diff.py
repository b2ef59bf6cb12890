"""What a relock changed: which versions moved, and, apart from that, what merely drifted.

A newer uv rewrites a lock even if nothing moves: another revision, markers without redundant parts,
wheels uploaded since. A user who reviews a move should not have to look for it among those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from packaging.version import Version

from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.packages import Dependency, LockedPackage, Source

__all__ = ["ChangeKind", "Drift", "DriftKind", "Fork", "PackageChange", "diff", "drift"]


class ChangeKind(StrEnum):
    """How a package changed."""

    ADDED = "added"
    REMOVED = "removed"
    UP = "up"
    DOWN = "down"
    MIXED = "mixed"
    """Several forks that went different ways, or a fork that came or went."""
    SOURCE = "source"
    """The same version from another index or source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """One version of a package and the environments it is locked for."""

    version: str | None
    source: Source
    markers: tuple[str, ...]
    """The fork's resolution markers; empty for every environment."""

    @property
    def key(self) -> tuple[str | None, str]:
        """Version and place, a trailing slash of an index aside."""
        return (self.version, f"{self.source.kind} {self.source.index or self.source.value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageChange:
    """A package that is not the same before and after. Forks are in lock order."""

    name: str
    old: tuple[Fork, ...]
    new: tuple[Fork, ...]

    @property
    def removed(self) -> tuple[Fork, ...]:
        """Forks that are gone."""
        kept = {fork.key for fork in self.new}
        return tuple(fork for fork in self.old if fork.key not in kept)

    @property
    def added(self) -> tuple[Fork, ...]:
        """Forks that are new."""
        kept = {fork.key for fork in self.old}
        return tuple(fork for fork in self.new if fork.key not in kept)

    @property
    def kept(self) -> tuple[Fork, ...]:
        """Forks that stayed, with their new markers."""
        kept = {fork.key for fork in self.old}
        return tuple(fork for fork in self.new if fork.key in kept)

    @property
    def kind(self) -> ChangeKind:
        """How it changed, in a word."""
        if not self.old:
            return ChangeKind.ADDED
        if not self.new:
            return ChangeKind.REMOVED
        removed, added = self.removed, self.added
        if not removed or not added:
            return ChangeKind.MIXED
        before, after = _versions(removed), _versions(added)
        if before == after:
            return ChangeKind.SOURCE
        if len(before) == len(after) and None not in (*before, *after):
            steps = {
                Version(str(two)) > Version(str(one))
                for one, two in zip(before, after, strict=True)
                if one != two
            }
            if len(steps) == 1:
                return ChangeKind.UP if steps.pop() else ChangeKind.DOWN
        return ChangeKind.MIXED

    @property
    def index_changed(self) -> bool:
        """Whether a place it comes from is new."""
        before = {fork.key[1] for fork in self.old}
        return bool(self.old) and any(fork.key[1] not in before for fork in self.new)

    def __str__(self) -> str:
        before = ", ".join(fork.version or "dynamic" for fork in self.old) or "none"
        after = ", ".join(fork.version or "dynamic" for fork in self.new) or "none"
        return f"{self.name} {before} → {after}"


class DriftKind(StrEnum):
    """What changed beside the versions."""

    REVISION = "revision"
    MARKERS = "markers"
    """Of the lock, a fork or an edge."""
    EDGES = "edges"
    """A package of the same version depends on others."""
    WHEELS = "wheels"
    """Files of the same version came, went or have another hash."""
    METADATA = "metadata"
    MANIFEST = "manifest"
    FIELDS = "fields"
    """Any other key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One thing that changed without a version changing."""

    kind: DriftKind
    package: str | None
    """`numpy==2.2.6`; None for the lock as a whole."""
    detail: str
    """Which key, and how: `revision 3 → 5`, `dependencies`, `2 wheels added`."""


def diff(old: Lock, new: Lock) -> tuple[PackageChange, ...]:
    """Return the packages whose versions, sources or forks changed, by name."""
    changes = []
    for name in sorted({package.name for package in (*old.packages, *new.packages)}):
        change = PackageChange(name=name, old=_forks(old.named(name)), new=_forks(new.named(name)))
        if change.removed or change.added:
            changes.append(change)
    return tuple(changes)


def drift(old: Lock, new: Lock) -> tuple[Drift, ...]:
    """Return what else changed: in the lock as a whole, then in each package that stayed."""
    return (*_lock_drift(old.raw, new.raw), *_packages_drift(old, new))


def _forks(packages: Iterable[LockedPackage]) -> tuple[Fork, ...]:
    return tuple(
        Fork(version=package.version, source=package.source, markers=package.resolution_markers)
        for package in packages
    )


def _versions(forks: Iterable[Fork]) -> list[str | None]:
    versions = [fork.version for fork in forks]
    return sorted(versions, key=lambda version: Version(version or "0"))


_LOCK_KINDS = {
    "resolution-markers": DriftKind.MARKERS,
    "supported-markers": DriftKind.MARKERS,
    "required-markers": DriftKind.MARKERS,
    "manifest": DriftKind.MANIFEST,
}


def _lock_drift(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Drift]:
    before, after = old.get("revision", 0), new.get("revision", 0)
    if before != after:
        detail = f"revision {before} → {after}"
        yield Drift(kind=DriftKind.REVISION, package=None, detail=detail)
    for key in _changed(old, new, besides={"revision", "package", "distribution"}):
        kind = _LOCK_KINDS.get(key, DriftKind.FIELDS)
        yield Drift(kind=kind, package=None, detail=key)


def _packages_drift(old: Lock, new: Lock) -> Iterator[Drift]:
    before = {_identity(package): package for package in old.packages}
    for package in new.packages:
        previous = before.get(_identity(package))
        if previous is not None and previous.raw != package.raw:
            yield from _package_drift(previous, package)


def _identity(package: LockedPackage) -> tuple[str, str | None, str]:
    place = f"{package.source.kind} {package.source.index or package.source.value}"
    return (package.name, package.version, place)


def _package_drift(old: LockedPackage, new: LockedPackage) -> Iterator[Drift]:
    name = str(new)
    if old.resolution_markers != new.resolution_markers:
        yield Drift(kind=DriftKind.MARKERS, package=name, detail="resolution-markers")
    yield from _edges_drift(name, "dependencies", old.dependencies, new.dependencies)
    for key, before, after in (
        ("optional-dependencies", old.optional_dependencies, new.optional_dependencies),
        ("dev-dependencies", old.dev_dependencies, new.dev_dependencies),
    ):
        for group in sorted(before.keys() | after.keys()):
            edges = before.get(group, ()), after.get(group, ())
            yield from _edges_drift(name, f"{key}.{group}", *edges)
    yield from _files_drift(name, old, new)
    if old.raw.get("metadata") != new.raw.get("metadata"):
        yield Drift(kind=DriftKind.METADATA, package=name, detail="metadata")
    for key in _changed(old.raw, new.raw, besides=_KNOWN):
        yield Drift(kind=DriftKind.FIELDS, package=name, detail=key)


_KNOWN = {
    "resolution-markers",
    "dependencies",
    "optional-dependencies",
    "dev-dependencies",
    "sdist",
    "wheels",
    "metadata",
}


def _edges_drift(
    name: str, place: str, old: tuple[Dependency, ...], new: tuple[Dependency, ...]
) -> Iterator[Drift]:
    before = {(edge.name, edge.extras) for edge in old}
    after = {(edge.name, edge.extras) for edge in new}
    if before != after:
        yield Drift(kind=DriftKind.EDGES, package=name, detail=place)
    elif {edge.marker for edge in old} != {edge.marker for edge in new}:
        yield Drift(kind=DriftKind.MARKERS, package=name, detail=place)
    # Otherwise only the version and source of edges changed: a consequence of a move.


def _files_drift(name: str, old: LockedPackage, new: LockedPackage) -> Iterator[Drift]:
    before = {(file.filename, file.hash) for file in _files(old)}
    after = {(file.filename, file.hash) for file in _files(new)}
    if before != after:
        parts = []
        if gained := len(after - before):
            parts.append(f"{gained} added")
        if lost := len(before - after):
            parts.append(f"{lost} removed")
        yield Drift(kind=DriftKind.WHEELS, package=name, detail=f"files: {', '.join(parts)}")
    elif _files(old) != _files(new):
        yield Drift(kind=DriftKind.FIELDS, package=name, detail="files")


def _files(package: LockedPackage) -> tuple[Any, ...]:
    return package.wheels if package.sdist is None else (*package.wheels, package.sdist)


def _changed(old: Mapping[str, Any], new: Mapping[str, Any], *, besides: set[str]) -> Iterator[str]:
    for key in sorted((old.keys() | new.keys()) - besides):
        if old.get(key) != new.get(key):
            yield key
