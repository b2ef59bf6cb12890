"""From the TOML tables of a uv.lock to typed values; a `WrongValue` where there is another."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from packaging.version import InvalidVersion, Version

from stackfix_index.names import normalized
from stackfix_lockfiles.packages import (
    EMPTY,
    Dependency,
    Edges,
    LockedFile,
    LockedPackage,
    LockedRequirement,
    PackageMetadata,
    Source,
    SourceKind,
    file_name,
)
from stackfix_lockfiles.toml import (
    WrongValue,
    array,
    listed,
    optional_integer,
    optional_text,
    subtable,
    text,
    wrong,
)

__all__ = ["package", "package_name", "requirements", "tables"]

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_NORMAL = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SOURCES = tuple(SourceKind)
_NO_NAMES: tuple[str, ...] = ()

T = TypeVar("T")


@lru_cache(maxsize=16384)
def package_name(name: str) -> str:
    """Return the normalised name; ValueError if it is no name of a package, extra or group."""
    if _NORMAL.fullmatch(name):
        return name
    if not _NAME.fullmatch(name):
        raise ValueError(name)
    return normalized(name)


@lru_cache(maxsize=16384)
def _is_version(version: str) -> bool:
    try:
        Version(version)
    except InvalidVersion:
        return False
    return True


def tables(table: Mapping[str, Any], key: str, build: Callable[[dict[str, Any]], T]) -> list[T]:
    """Build a value of each table in the array at `key`."""
    built: list[T] = []
    for index, item in enumerate(array(table, key)):
        if type(item) is not dict:
            raise wrong(f"{key}[{index}]", "a table", item)
        try:
            built.append(build(item))
        except WrongValue as fault:
            raise fault.under(f"{key}[{index}]") from None
    return built


def named(table: Mapping[str, Any], key: str = "name") -> str:
    """Return the normalised package name at `key`."""
    name = text(table, key)
    try:
        return package_name(name)
    except ValueError:
        raise WrongValue(key, f"expected a package name, found {name[:80]!r}") from None


def versioned(table: Mapping[str, Any]) -> str | None:
    """Return the PEP 440 version at `version`, None if it is absent."""
    version = optional_text(table, "version")
    if version is not None and not _is_version(version):
        raise WrongValue("version", f"expected a version, found {version[:80]!r}")
    return version


def names(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the array of extra, group or package names at `key`, normalised."""
    if key not in table:
        return _NO_NAMES
    normal = []
    for index, name in enumerate(listed(table, key, str)):
        try:
            normal.append(package_name(name))
        except ValueError:
            place = f"{key}[{index}]"
            raise WrongValue(place, f"expected a name, found {name[:80]!r}") from None
    return tuple(normal)


def source(table: Mapping[str, Any]) -> Source:
    """Return the source of a `[[package]]` or of an edge."""
    value = table.get("source")
    if type(value) is not dict:
        if value is None:
            raise WrongValue("source", "expected a table, found nothing")
        raise wrong("source", "a table", value)
    found = _source_of(value)
    if found is None:
        kinds = ", ".join(_SOURCES)
        raise WrongValue("source", f"expected one of the keys {kinds}; found {_keys(value)}")
    return found


def _source_of(value: dict[str, Any]) -> Source | None:
    for kind in _SOURCES:
        if kind in value:
            location = value[kind]
            if type(location) is not str:
                raise wrong(f"source.{kind}", "a string", location)
            return Source(kind, location, optional_text(value, "subdirectory"))
    return None


def _keys(value: dict[str, Any]) -> str:
    return ", ".join(sorted(value)[:5])[:80] or "none"


def dependency(table: dict[str, Any]) -> Dependency:
    """Return an edge."""
    if len(table) == 1:  # four edges in five are a bare name
        return Dependency(name=named(table))
    return Dependency(
        name=named(table),
        version=versioned(table),
        source=source(table) if "source" in table else None,
        extras=names(table, "extra"),
        marker=optional_text(table, "marker"),
    )


def locked_file(table: dict[str, Any]) -> LockedFile:
    """Return a wheel or sdist entry."""
    url, path = optional_text(table, "url"), optional_text(table, "path")
    filename = optional_text(table, "filename")
    location = url or path
    if filename is None:
        filename = file_name(location) if location else ""
    upload = table.get("upload-time", table.get("upload_time"))  # uv 0.7 wrote the underscore
    if upload is not None and type(upload) is not str:
        upload = str(upload)
    return LockedFile(
        filename=filename,
        url=url,
        path=path,
        hash=optional_text(table, "hash"),
        size=optional_integer(table, "size"),
        upload_time=upload,
    )


def requirement(table: dict[str, Any]) -> LockedRequirement:
    """Return a requirement of a package's metadata or of the manifest."""
    conflict = subtable(table, "conflict")
    found = _source_of(table)
    return LockedRequirement(
        name=named(table),
        specifier=optional_text(table, "specifier") or "",
        extras=names(table, "extras"),
        marker=optional_text(table, "marker"),
        index=optional_text(table, "index"),
        source=found,
        conflict={key: text(conflict, key) for key in conflict} or None,
    )


def requirements(table: Mapping[str, Any], key: str) -> tuple[LockedRequirement, ...]:
    """Return the array of requirements at `key`."""
    return tuple(tables(table, key, requirement))


def grouped(
    table: Mapping[str, Any], key: str, build: Callable[[dict[str, Any]], T]
) -> Mapping[str, tuple[T, ...]]:
    """Return the table of arrays at `key`: extras or groups by normalised name."""
    if key not in table:
        return EMPTY
    groups: dict[str, tuple[T, ...]] = {}
    section = subtable(table, key)
    for name in section:
        try:
            groups[package_name(name)] = tuple(tables(section, name, build))
        except ValueError:
            raise WrongValue(key, f"expected names as keys, found {name[:80]!r}") from None
        except WrongValue as fault:
            raise fault.under(key) from None
    return MappingProxyType(groups)


def _metadata(table: dict[str, Any]) -> PackageMetadata | None:
    if "metadata" not in table:
        return None
    section = subtable(table, "metadata")
    try:
        return PackageMetadata(
            requires_dist=requirements(section, "requires-dist"),
            provides_extras=names(section, "provides-extras"),
            requires_dev=grouped(section, "requires-dev", requirement),
        )
    except WrongValue as fault:
        raise fault.under("metadata") from None


def _sdist(table: dict[str, Any]) -> LockedFile | None:
    if "sdist" not in table:
        return None
    try:
        return locked_file(subtable(table, "sdist"))
    except WrongValue as fault:
        raise fault.under("sdist") from None


def package(table: dict[str, Any], position: int, members: frozenset[str]) -> LockedPackage:
    """Return one `[[package]]`; `members` are the names in the manifest."""
    name, where = named(table), source(table)
    edges: Edges = tuple(tables(table, "dependencies", dependency))
    root = where.kind in (SourceKind.EDITABLE, SourceKind.VIRTUAL) and where.value == "."
    return LockedPackage(
        name=name,
        version=versioned(table),
        source=where,
        resolution_markers=listed(table, "resolution-markers", str),
        dependencies=edges,
        optional_dependencies=grouped(table, "optional-dependencies", dependency),
        dev_dependencies=grouped(table, "dev-dependencies", dependency),
        sdist=_sdist(table),
        wheels=tuple(tables(table, "wheels", locked_file)),
        metadata=_metadata(table),
        is_member=root or (name in members and where.is_local),
        position=position,
        raw=table,
    )
