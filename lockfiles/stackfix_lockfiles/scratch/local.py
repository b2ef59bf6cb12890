"""What lies on this disk that uv reads when it locks a project."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from stackfix_index.configured import INDEX_VARIABLES, NamedIndex, entries
from stackfix_lockfiles import workspace
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.pyproject import Pyproject
from stackfix_lockfiles.sources import indexes, sources

__all__ = ["LocalFiles", "find_local"]

_MAX_FOLDERS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFiles:
    """Absolute paths, the project's root not among them."""

    folders: frozenset[Path]
    """Folders of packages: members, path sources, and theirs in turn."""
    links: frozenset[Path]
    """Wheels, sdists, and folders that serve as an index."""
    missing: frozenset[Path]
    """What is named and is not there; uv says so, with its place."""
    variables: Mapping[str, str]
    """uv's variables that name folders, with these as seen from the project's root."""


def find_local(project: Project, lock: Lock | None) -> LocalFiles:
    """Follow members, path sources and local indexes, and what the old lock names.

    Raises:
        InputError: a pyproject.toml on the way is broken.
    """
    folders: set[Path] = set()
    links: set[Path] = set()
    missing: set[Path] = set()
    waiting = [project.root, *(project.root / file.path.parent for file in project.files)]
    if lock is not None:
        waiting += [
            project.root / package.source.value
            for package in lock.packages
            if package.source.is_local and "://" not in package.source.value
        ]
    while waiting:
        path = Path(os.path.normpath(waiting.pop()))
        if path in folders or path in links:
            continue
        if os.path.isfile(path):  # unlike Path.is_file, takes a name of any length
            links.add(path)
        elif os.path.isdir(path) and len(folders) < _MAX_FOLDERS:
            folders.add(path)
            waiting += _read_by(path)
        else:
            missing.add(path)
    links.update(_indexes(project))
    variables: dict[str, str] = {}
    for variable, separator in INDEX_VARIABLES.items():
        found = list(entries(variable, os.environ.get(variable, "")))
        paths = [Path(os.path.abspath(index.url)) if _is_folder(index) else None for index in found]
        links.update(path for path in paths if path is not None)
        if any(paths):
            variables[variable] = (separator or " ").join(
                str(replace(index, url=_seen_from(project.root, path)) if path else index)
                for index, path in zip(found, paths, strict=True)
            )
    return LocalFiles(
        folders=frozenset(folders - {project.root}),
        links=frozenset(path for path in links if path not in folders),
        missing=frozenset(missing),
        variables=variables,
    )


def _read_by(folder: Path) -> Iterator[Path]:
    """The folders and files that uv reads because it reads this folder's pyproject.toml."""
    path = folder / "pyproject.toml"
    if not os.path.isfile(path):
        return
    file = Pyproject.read(path, folder, str(path), what="a pyproject.toml")
    for source in sources(file):
        if source.kind == "path" and (local := _local_path(source.value)) is not None:
            yield folder / local
    yield from workspace.member_folders(file, folder)
    if (outer := workspace.workspace_root(folder)) is not None:
        yield outer


def _indexes(project: Project) -> Iterator[Path]:
    config = project.uv_config
    urls: list[Any] = [index.url for index in project.indexes]
    if config.is_uv_toml:
        urls += [index.url for index in indexes(project.main, "tool", "uv")]
    found = config.table.get("find-links", [])
    urls += [found] if isinstance(found, str) else found if isinstance(found, list) else []
    for url in urls:
        local = _local_path(url) if isinstance(url, str) else None
        if local is None or local.is_absolute():
            continue
        if os.path.exists(project.root / local):
            yield Path(os.path.normpath(project.root / local))


def _is_folder(index: NamedIndex) -> bool:
    """Whether an index is a folder, named from the current one."""
    return "://" not in index.url and not os.path.isabs(index.url) and os.path.isdir(index.url)


def _seen_from(root: Path, path: Path) -> str:
    """The relative path; uv takes one without a dot in front for a name."""
    return os.path.join(".", os.path.relpath(path, root))


def _local_path(text: str) -> Path | None:
    """The path that a source or an index means, None for a URL elsewhere."""
    if text.startswith("file:"):
        return Path(unquote(urlsplit(text).path))
    return None if "://" in text else Path(text)
