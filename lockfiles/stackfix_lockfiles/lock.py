"""A uv.lock, read and typed: `version = 1`, any revision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from stackfix_lockfiles import _locked, toml
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.markers import Marker
from stackfix_lockfiles.packages import (
    Dependency,
    LockedFile,
    LockedPackage,
    LockedRequirement,
    PackageMetadata,
    Source,
    SourceKind,
)
from stackfix_lockfiles.toml import WrongValue

__all__ = [
    "ConflictItem",
    "Dependency",
    "Lock",
    "LockedFile",
    "LockedPackage",
    "LockedRequirement",
    "Manifest",
    "PackageMetadata",
    "Source",
    "SourceKind",
]


_MAX_VERSIONS = 500
"""Of one package: a real lock has a handful, and each edge to it is compared with all."""


@dataclass(frozen=True, slots=True, order=True)
class ConflictItem:
    """An extra, a group, or (neither given) a whole package, of a set that excludes each other."""

    package: str
    extra: str | None = None
    group: str | None = None

    @property
    def pseudo_extra(self) -> str:
        """The name by which uv's markers speak of it: `extra-6-openpi-cu128`."""
        if self.extra is not None:
            return f"extra-{len(self.package)}-{self.package}-{self.extra}"
        if self.group is not None:
            return f"group-{len(self.package)}-{self.package}-{self.group}"
        return f"project-{len(self.package)}-{self.package}"

    def __str__(self) -> str:
        if self.extra is not None:
            return f"{self.package}[{self.extra}]"
        if self.group is not None:
            return f"{self.package}:{self.group}"
        return self.package


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`[manifest]`: what the lock was made from beside the packages' own metadata."""

    members: tuple[str, ...] = ()
    requirements: tuple[LockedRequirement, ...] = ()
    constraints: tuple[LockedRequirement, ...] = ()
    overrides: tuple[LockedRequirement, ...] = ()
    build_constraints: tuple[LockedRequirement, ...] = ()
    excludes: tuple[str, ...] = ()
    dependency_groups: Mapping[str, tuple[LockedRequirement, ...]]
    dependency_metadata: tuple[Mapping[str, Any], ...] = ()
    """Tables of `name`, `version`, `requires-dist`, …, as read."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lock:
    """A whole uv.lock."""

    name: str
    """How errors call the file."""
    version: int
    revision: int
    requires_python: str
    resolution_markers: tuple[str, ...]
    supported_markers: tuple[str, ...]
    required_markers: tuple[str, ...]
    conflicts: tuple[tuple[ConflictItem, ...], ...]
    options: Mapping[str, Any]
    manifest: Manifest
    packages: tuple[LockedPackage, ...]
    data: bytes = field(repr=False)
    """The file itself."""
    raw: Mapping[str, Any] = field(repr=False)
    """The document as read, with the keys this class has no field for."""
    _by_name: Mapping[str, tuple[LockedPackage, ...]] = field(repr=False)
    _markers: dict[str, Marker] = field(repr=False)
    _lines: list[int] = field(repr=False, default_factory=list)

    @classmethod
    def read(cls, path: Path | str, *, name: str | None = None) -> Lock:
        """Read a uv.lock; `name` is what errors call it (default: the path as given).

        Raises:
            InputError: it is missing, empty, cut off, binary, over 64 MB or no uv.lock.
        """
        shown = name or str(path)
        return cls.parse(toml.read_bytes(Path(path), name=shown, what="a uv.lock"), name=shown)

    @classmethod
    def parse(cls, data: bytes, *, name: str = "uv.lock") -> Lock:
        """Read a uv.lock from its bytes. Raises InputError as `read` does."""
        document = toml.parse(data, name, what="a uv.lock")
        try:
            return _build(document, data, name)
        except WrongValue as fault:
            raise fault.error(name) from None

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the file's bytes."""
        import hashlib  # loads OpenSSL, which readers of a lock seldom need

        return hashlib.sha256(self.data).hexdigest()

    def named(self, name: str) -> tuple[LockedPackage, ...]:
        """Return every package of that (normalised) name, in file order."""
        return self._by_name.get(name, ())

    @property
    def root(self) -> LockedPackage | None:
        """The project in the lock's own folder; None in a workspace without a root project."""
        for package in self.members:
            if package.source.value == ".":
                return package
        return None

    @property
    def members(self) -> tuple[LockedPackage, ...]:
        """The packages of the workspace, in file order."""
        return tuple(package for package in self.packages if package.is_member)

    def target(self, dependency: Dependency) -> LockedPackage:
        """Return the package an edge of this lock leads to."""
        candidates = self._by_name[dependency.name]
        return candidates[0] if len(candidates) == 1 else _matching(dependency, candidates)[0]

    def marker(self, text: str) -> Marker:
        """Return the parsed marker of that text, parsed once per lock."""
        known = self._markers.get(text)
        if known is None:
            try:
                known = self._markers[text] = Marker(text)
            except ValueError as error:
                raise InputError(self.name, str(error)) from None
        return known

    def line_of(self, package: LockedPackage) -> int | None:
        """Return the 1-based line of the package's `[[package]]`; None if it has no such header."""
        if not self._lines:
            self._lines.extend(_header_lines(self.data))
        position = package.position
        return self._lines[position] if position < len(self._lines) else None


def _header_lines(data: bytes) -> Iterator[int]:
    for number, line in enumerate(data.splitlines(), 1):
        if line.startswith(b"[[") and line.split(b"#")[0].replace(b" ", b"").strip() in (
            b"[[package]]",
            b"[[distribution]]",
        ):
            yield number


def _build(document: dict[str, Any], data: bytes, name: str) -> Lock:
    version = toml.optional_integer(document, "version")
    if version != 1:
        raise WrongValue("version", f"expected 1 (a uv.lock), found {version or 'nothing'}")
    manifest = _manifest(document)
    key = "package" if "package" in document else "distribution"  # uv < 0.4 wrote the latter
    members = frozenset(manifest.members)
    packages: list[LockedPackage] = []
    for position, table in enumerate(toml.array(document, key)):
        place = f"{key}[{position}]"
        if type(table) is not dict:
            raise toml.wrong(place, "a table", table)
        try:
            packages.append(_locked.package(table, position, members))
        except WrongValue as fault:
            raise fault.under(place) from None
    by_name = _by_name(packages, key)
    markers: dict[str, Marker] = {}
    for package in packages:
        try:
            _check(package, by_name, markers)
        except WrongValue as fault:
            raise fault.under(f"{key}[{package.position}]") from None
    revision = toml.optional_integer(document, "revision") or 0
    return Lock(
        name=name,
        version=version,
        revision=revision,
        requires_python=_requires_python(document),
        resolution_markers=_marker_list(document, "resolution-markers", markers),
        supported_markers=_marker_list(document, "supported-markers", markers),
        required_markers=_marker_list(document, "required-markers", markers),
        conflicts=_conflicts(document),
        options=MappingProxyType(toml.subtable(document, "options")),
        manifest=manifest,
        packages=tuple(packages),
        data=data,
        raw=document,
        _by_name=by_name,
        _markers=markers,
    )


def _requires_python(document: dict[str, Any]) -> str:
    text = toml.text(document, "requires-python")
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise WrongValue("requires-python", f"expected a specifier, found {text[:80]!r}") from None
    return text


def _manifest(document: dict[str, Any]) -> Manifest:
    table = toml.subtable(document, "manifest")
    try:
        return Manifest(
            members=_locked.names(table, "members"),
            requirements=_locked.requirements(table, "requirements"),
            constraints=_locked.requirements(table, "constraints"),
            overrides=_locked.requirements(table, "overrides"),
            build_constraints=_locked.requirements(table, "build-constraints"),
            excludes=_locked.names(table, "excludes"),
            dependency_groups=_locked.grouped(table, "dependency-groups", _locked.requirement),
            dependency_metadata=toml.listed(table, "dependency-metadata", dict),
        )
    except WrongValue as fault:
        raise fault.under("manifest") from None


def _conflicts(document: dict[str, Any]) -> tuple[tuple[ConflictItem, ...], ...]:
    def item(table: dict[str, Any]) -> ConflictItem:
        extra = toml.optional_text(table, "extra")
        group = toml.optional_text(table, "group")
        return ConflictItem(_locked.named(table, "package"), extra, group)

    sets = []
    for index, entry in enumerate(toml.array(document, "conflicts")):
        place = f"conflicts[{index}]"
        if type(entry) is not list:
            raise toml.wrong(place, "an array", entry)
        sets.append(tuple(_locked.tables({place: entry}, place, item)))
    return tuple(sets)


def _marker_list(document: dict[str, Any], key: str, markers: dict[str, Marker]) -> tuple[str, ...]:
    texts = toml.listed(document, key, str)
    for index, text in enumerate(texts):
        _know(text, f"{key}[{index}]", markers)
    return texts


def _know(text: str, place: str, markers: dict[str, Marker]) -> None:
    if text not in markers:
        try:
            markers[text] = Marker(text)
        except ValueError as error:
            raise WrongValue(place, str(error)) from None


def _by_name(packages: list[LockedPackage], key: str) -> dict[str, tuple[LockedPackage, ...]]:
    grouped: dict[str, list[LockedPackage]] = {}
    seen = set()
    for package in packages:
        place = f"{key}[{package.position}]"
        if package.key in seen:
            raise WrongValue(place, f"expected each package once, found {package} a second time")
        seen.add(package.key)
        same = grouped.setdefault(package.name, [])
        same.append(package)
        if len(same) > _MAX_VERSIONS:
            expected = f"expected at most {_MAX_VERSIONS} versions of {package.name}, found more"
            raise WrongValue(place, expected)
    return {name: tuple(same) for name, same in grouped.items()}


def _edges(package: LockedPackage) -> Iterable[tuple[str, tuple[Dependency, ...]]]:
    yield "dependencies", package.dependencies
    for extra, edges in package.optional_dependencies.items():
        yield f"optional-dependencies.{extra}", edges
    for group, edges in package.dev_dependencies.items():
        yield f"dev-dependencies.{group}", edges


def _check(
    package: LockedPackage,
    by_name: Mapping[str, tuple[LockedPackage, ...]],
    markers: dict[str, Marker],
) -> None:
    for index, text in enumerate(package.resolution_markers):
        _know(text, f"resolution-markers[{index}]", markers)
    for place, edges in _edges(package):
        for index, edge in enumerate(edges):
            candidates = by_name.get(edge.name, ())
            plain = len(candidates) == 1 and edge.version is None and edge.source is None
            if not plain and len(_matching(edge, candidates)) != 1:
                raise WrongValue(f"{place}[{index}]", _dangling(edge, candidates))
            if edge.marker is not None:
                _know(edge.marker, f"{place}[{index}].marker", markers)


def _matching(edge: Dependency, candidates: tuple[LockedPackage, ...]) -> tuple[LockedPackage, ...]:
    return tuple(
        package
        for package in candidates
        if (edge.version is None or edge.version == package.version)
        and (edge.source is None or edge.source == package.source)
    )


def _dangling(edge: Dependency, candidates: tuple[LockedPackage, ...]) -> str:
    wanted = edge.name if edge.version is None else f"{edge.name}=={edge.version}"
    if not candidates:
        return f"expected a package of this lock, found {wanted}, which it does not hold"
    held = ", ".join(str(package) for package in candidates[:5])
    return f"expected exactly one package of this lock, found {wanted} where it holds {held}"
