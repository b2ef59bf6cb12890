"""`[tool.uv.sources]` and `[[tool.uv.index]]`: where a project says its packages come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackfix_index.names import normalized
from stackfix_lockfiles import toml
from stackfix_lockfiles.pyproject import Pyproject, TomlFile

__all__ = ["DeclaredIndex", "DeclaredSource", "indexes", "sources"]

_KINDS = ("index", "git", "url", "path", "workspace")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSource:
    """One source of one package. A package may have several, told apart by marker or extra."""

    file: Path
    line: int
    package: str
    """Normalised."""
    kind: str
    """`index`, `git`, `url`, `path` or `workspace`."""
    value: str
    """The index's name, the URL or path; `true` for a workspace member."""
    marker: str | None = None
    extra: str | None = None
    group: str | None = None
    raw: Mapping[str, Any]
    """The table as written: `rev`, `branch`, `editable`, …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredIndex:
    """A package index, in the order in which uv asks them."""

    file: Path
    line: int
    url: str
    """As written."""
    name: str | None = None
    explicit: bool = False
    """Whether only packages with a source of that name come from it."""
    default: bool = False
    """Whether it stands in for uv's default index."""
    flat: bool = False
    """Whether it is a page of links instead of a simple index."""


def sources(file: Pyproject) -> Iterator[DeclaredSource]:
    """Yield every source of a pyproject.toml; InputError for one that uv could not read either."""
    keys = ("tool", "uv", "sources")
    for package, value in file.table(*keys).items():
        entries = value if isinstance(value, list) else [value]
        for index, table in enumerate(entries):
            path: tuple[str | int, ...] = (*keys, package)
            if isinstance(value, list):
                path += (index,)
            if not isinstance(table, dict):
                raise file.fault(path, f"expected a table, found {toml.kind(table)}")
            kind = next((kind for kind in _KINDS if kind in table), None)
            if kind is None:
                raise file.fault(path, f"expected one of the keys {', '.join(_KINDS)}")
            yield DeclaredSource(
                file=file.path,
                line=file.line(*path) or 1,
                package=normalized(package),
                kind=kind,
                value=str(table[kind]).lower() if kind == "workspace" else str(table[kind]),
                marker=_text(table, "marker"),
                extra=_text(table, "extra"),
                group=_text(table, "group"),
                raw=table,
            )


def indexes(file: TomlFile, *prefix: str) -> Iterator[DeclaredIndex]:
    """Yield the indexes below `prefix` (`tool`, `uv`, or nothing in a uv.toml).

    `extra-index-url` and `index-url` follow, as the older spellings of the same thing.
    """
    table = file.table(*prefix)
    entries = table.get("index", [])
    if not isinstance(entries, list):
        raise file.fault((*prefix, "index"), f"expected an array, found {toml.kind(entries)}")
    for position, entry in enumerate(entries):
        path: tuple[str | int, ...] = (*prefix, "index", position)
        if not isinstance(entry, dict) or not isinstance(entry.get("url"), str):
            raise file.fault(path, "expected a table with a url")
        yield DeclaredIndex(
            file=file.path,
            line=file.line(*path) or 1,
            url=entry["url"],
            name=_text(entry, "name"),
            explicit=entry.get("explicit") is True,
            default=entry.get("default") is True,
            flat=entry.get("format") == "flat",
        )
    extra = table.get("extra-index-url", [])
    for url in [extra] if isinstance(extra, str) else extra:
        line = file.line(*prefix, "extra-index-url") or 1
        yield DeclaredIndex(file=file.path, line=line, url=str(url))
    if isinstance(url := table.get("index-url"), str):
        line = file.line(*prefix, "index-url") or 1
        yield DeclaredIndex(file=file.path, line=line, url=url, default=True)


def _text(table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    return value if isinstance(value, str) else None
