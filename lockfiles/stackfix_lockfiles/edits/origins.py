"""Edits of where packages come from: `[tool.uv.sources]` and `[[tool.uv.index]]`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stackfix_index.names import normalized
from stackfix_lockfiles.edits.edit import Edit, EditKind, toml_text
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.pyproject import Pyproject, TomlFile
from stackfix_lockfiles.sources import DeclaredIndex, DeclaredSource, indexes

__all__ = ["add_index", "add_source", "remove_index", "remove_source"]

_INDEXES = ("tool", "uv", "index")
_SOURCES = ("tool", "uv", "sources")


def add_index(
    project: Project, name: str, url: str, *, explicit: bool = True, why: str = ""
) -> Edit:
    """Return the edit that adds a package index after those there are.

    Args:
        project: the project.
        name: what sources call it.
        url: its address.
        explicit: whether only packages with a source of that name come from it.
        why: the reason, for reports.

    Raises:
        InputError: another index has that name.
    """
    file: TomlFile = project.main
    keys: tuple[str, ...] = _INDEXES
    if not explicit and project.uv_config.is_uv_toml:
        file, keys = project.uv_config.file, _INDEXES[-1:]
    found = (index for index in indexes(file, *keys[:-1]) if index.name == name)
    if (present := next(found, None)) is not None:
        expected = f"expected a new name for an index, found {name!r}, which is {present.url}"
        raise InputError(present.file, expected, place=".".join(keys), line=present.line)
    table: dict[str, object] = {"name": name, "url": url}
    if explicit:
        table["explicit"] = True
    return Edit(
        kind=EditKind.INDEX,
        file=file.path,
        table=".".join(keys),
        keys=keys,
        line=None,
        old=None,
        new=toml_text(table),
        why=why,
        comment=bool(why),
    )


def remove_index(project: Project, index: DeclaredIndex, *, why: str = "") -> Edit:
    """Return the edit that takes a package index out; sources must not name it any more.

    Args:
        project: the project.
        index: one of its `indexes` or `source_indexes`.
        why: the reason, for reports.

    Raises:
        InputError: it is not written as an entry of `index`.
    """
    config = project.uv_config
    in_config = config.is_uv_toml and index.file == config.file.path
    file: TomlFile = config.file if in_config else project.file(index.file)
    keys = _INDEXES[-1:] if in_config else _INDEXES
    entries = file.table(*keys[:-1]).get(keys[-1], [])
    for position, entry in enumerate(entries if isinstance(entries, list) else ()):
        if entry.get("url") == index.url and entry.get("name") == index.name:
            return Edit(
                kind=EditKind.INDEX,
                file=index.file,
                table=".".join(keys),
                keys=keys,
                line=index.line,
                index=position,
                old=toml_text(entry),
                new=None,
                why=why,
            )
    expected = f"expected the index {index.url} as an entry of its own"
    raise InputError(file.shown, expected, place=".".join(keys), line=index.line)


def add_source(
    project: Project,
    package: str,
    index: str,
    *,
    marker: str | None = None,
    extra: str | None = None,
    group: str | None = None,
    file: Path | None = None,
    why: str = "",
) -> Edit:
    """Return the edit that takes a package from the index of that name.

    With a marker, extra or group, the source of the same scope is replaced and others are kept
    beside it; without, it replaces every source of the package.

    Args:
        project: the project.
        package: its name.
        index: the name of an index.
        marker: where the source holds; None for everywhere.
        extra: the extra it holds for.
        group: the dependency group it holds for.
        file: the member's pyproject.toml, relative to the root; None for the root's, whose
            sources hold for all members without their own.
        why: the reason, for reports.
    """
    home = project.main if file is None else project.file(file)
    scope = {"marker": marker, "extra": extra, "group": group}
    table: dict[str, object] = {"index": index}
    table.update((key, value) for key, value in scope.items() if value is not None)
    wanted = toml_text(table)
    spelled = _spelling(home, package)
    line, old = _present_source(home, spelled, scope)
    return Edit(
        kind=EditKind.SOURCE,
        file=home.path,
        table=".".join(_SOURCES),
        keys=_SOURCES,
        line=line,
        old=old,
        new=wanted,
        why=why,
        package=spelled,
    )


def remove_source(project: Project, source: DeclaredSource, *, why: str = "") -> Edit:
    """Return the edit that takes one source of a package out, and no other.

    Args:
        project: the project.
        source: one of its `sources`.
        why: the reason, for reports.

    Raises:
        InputError: the source holds what is neither a string nor a number.
    """
    home = project.file(source.file)
    try:
        old = toml_text(source.raw)
    except ValueError:
        expected = f"expected strings in the source of {source.package}; edit it by hand"
        raise InputError(home.shown, expected, line=source.line) from None
    return Edit(
        kind=EditKind.SOURCE,
        file=source.file,
        table=".".join(_SOURCES),
        keys=_SOURCES,
        line=source.line,
        old=old,
        new=None,
        why=why,
        package=_spelling(home, source.package),
    )


def _spelling(file: Pyproject, package: str) -> str:
    normal = normalized(package)
    names = file.table(*_SOURCES)
    return next((name for name in names if normalized(name) == normal), package)


def _present_source(
    file: TomlFile, package: str, scope: Mapping[str, str | None]
) -> tuple[int | None, str | None]:
    """Return line and text of what a source with this scope replaces."""
    value = file.table(*_SOURCES).get(package)
    if value is None:
        return None, None
    path: tuple[str | int, ...] = (*_SOURCES, package)
    if any(scope.values()):
        entries = value if isinstance(value, list) else [value]
        same = [
            position
            for position, entry in enumerate(entries)
            if isinstance(entry, dict) and all(entry.get(key) == scope[key] for key in scope)
        ]
        if not same:
            return None, None
        if isinstance(value, list):
            path += (same[0],)
        value = entries[same[0]]
    try:
        return file.line(*path), toml_text(value)
    except ValueError:
        expected = f"expected strings in the source of {package}; edit it by hand"
        raise file.fault(path, expected) from None
