"""The indexes that a project names in uv's settings and its files, and for which packages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stackfix.rules.sf505_other_index import NamedIndexes
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.pyproject import Pyproject

__all__ = ["named_indexes"]


def named_indexes(project: Project) -> NamedIndexes:
    """What uv may take packages from, as far as the project itself says."""
    files = project.files
    known: dict[str, str] = {}
    everywhere: set[str] = set()
    default = False
    for table in (project.uv_config.table, *(file.table("tool", "uv") for file in files)):
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
    from stackfix_index.names import normalized

    for package, value in file.table("tool", "uv", "sources").items():
        for table in _tables(value if isinstance(value, list) else [value]):
            index = table.get("index")
            if isinstance(index, str) and index in known:
                yield normalized(package), known[index]


def _tables(value: object) -> list[dict[str, Any]]:
    """The tables in an array; what is none is uv's to refuse."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
