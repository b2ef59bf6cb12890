"""What one `[[package]]` of a uv.lock says: its source, edges, files and recorded metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

__all__ = [
    "Dependency",
    "LockedFile",
    "LockedPackage",
    "LockedRequirement",
    "PackageMetadata",
    "Source",
    "SourceKind",
]


EMPTY: Mapping[str, Any] = MappingProxyType({})


def _empty() -> Mapping[str, Any]:
    return EMPTY


class SourceKind(StrEnum):
    """Where a package comes from; the key of its `source` table in the lock."""

    REGISTRY = "registry"
    GIT = "git"
    URL = "url"
    PATH = "path"
    DIRECTORY = "directory"
    EDITABLE = "editable"
    VIRTUAL = "virtual"


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """A package's source: its kind and the text the lock has for it.

    `value` of a registry is the index URL (or a local folder) as written, which may or may not end
    with a slash; of a git source the URL with `?rev=…` and `#<commit>`.
    """

    kind: SourceKind
    value: str
    subdirectory: str | None = None
    """Folder inside an archive; only on URL sources."""

    @property
    def index(self) -> str | None:
        """The index URL without a trailing slash, to compare by; None if it is not a registry."""
        return self.value.rstrip("/") if self.kind is SourceKind.REGISTRY else None

    @property
    def is_local(self) -> bool:
        """Whether it lies in or beside the project: a member, or a path dependency."""
        return self.kind in _LOCAL

    def __str__(self) -> str:
        return f"{self.kind}: {self.value}"


_LOCAL = {SourceKind.PATH, SourceKind.DIRECTORY, SourceKind.EDITABLE, SourceKind.VIRTUAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """An edge of the lock: the package it leads to, the extras it turns on, and when it holds.

    `version` and `source` are there only where the lock holds several packages of that name.
    `marker` may contain uv's pseudo extras (`extra == 'extra-6-openpi-cu128'`).
    """

    name: str
    version: str | None = None
    source: Source | None = None
    extras: tuple[str, ...] = ()
    marker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedFile:
    """A wheel or sdist. `url` and `path` are both absent where the source itself is the file."""

    filename: str
    url: str | None = None
    path: str | None = None
    hash: str | None = None
    """`sha256:<hex>`; None where the index gave none."""
    size: int | None = None
    """Bytes."""
    upload_time: str | None = None
    """ISO 8601, as written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedRequirement:
    """A requirement recorded in the lock, of a package's metadata or of the manifest."""

    name: str
    specifier: str = ""
    extras: tuple[str, ...] = ()
    marker: str | None = None
    index: str | None = None
    source: Source | None = None
    """The git, URL or path source, where it has one."""
    conflict: Mapping[str, str] | None = None

    def __str__(self) -> str:
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        marker = f" ; {self.marker}" if self.marker else ""
        return f"{self.name}{extras}{self.specifier}{marker}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageMetadata:
    """`[package.metadata]`: what members, git and path packages declared when uv locked them."""

    requires_dist: tuple[LockedRequirement, ...] = ()
    provides_extras: tuple[str, ...] = ()
    requires_dev: Mapping[str, tuple[LockedRequirement, ...]] = field(default_factory=_empty)


Edges = tuple[Dependency, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LockedPackage:
    """One `[[package]]`. Compared and hashed by identity: a lock holds each at most once."""

    name: str
    """Normalised (PEP 503)."""
    version: str | None
    """As written, local part included; None for members whose version is dynamic."""
    source: Source
    resolution_markers: tuple[str, ...] = ()
    """The forks it belongs to; empty when it belongs to all."""
    dependencies: Edges = ()
    optional_dependencies: Mapping[str, Edges] = field(default_factory=_empty)
    dev_dependencies: Mapping[str, Edges] = field(default_factory=_empty)
    sdist: LockedFile | None = None
    wheels: tuple[LockedFile, ...] = ()
    metadata: PackageMetadata | None = None
    is_member: bool = False
    """Whether it is a package of the workspace, the root included."""
    position: int = 0
    """Its index in the lock's `package` array."""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The table as read, with the keys this class has no field for."""

    @property
    def key(self) -> tuple[str, str | None, Source]:
        """What identifies it inside a lock."""
        return (self.name, self.version, self.source)

    def __str__(self) -> str:
        return self.name if self.version is None else f"{self.name}=={self.version}"


def file_name(location: str) -> str:
    """Return the file name of a wheel's URL or path, with percent escapes decoded."""
    if "://" in location:  # by hand: the standard library refuses odd hosts, which are no concern
        location = location.split("#", 1)[0].split("?", 1)[0]
    name = location.replace("\\", "/").rpartition("/")[2]
    return unquote(name) if "%" in name else name
