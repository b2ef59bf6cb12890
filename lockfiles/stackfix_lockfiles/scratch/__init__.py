"""A copy of what uv reads of a project, where uv may write and nothing of the user's is touched.

The copy holds pyproject files, uv.lock, uv.toml, `.python-version`, and path sources at the same
relative place; wheels, sdists and local indexes are links. No package's code is in it: of a folder
only its metadata is copied, and what only a build could tell is replaced by what the old lock
recorded.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackfix_lockfiles import toml
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.scratch.known import Known
from stackfix_lockfiles.scratch.local import LocalFiles, find_local
from stackfix_lockfiles.scratch.static import Static, make_static

__all__ = ["Known", "Scratch", "scratch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scratch:
    """A scratch copy, ready for `uv lock` in `root`."""

    root: Path
    """The folder that stands for the project's root."""
    base: Path
    """The temporary folder that holds it and what lies beside it."""
    origin: Path
    """What `base / "tree"` is a copy of: the project's root, or a folder above."""
    unversioned: frozenset[str]
    """Local packages with a dynamic version: the lock has no `version` line for them."""
    unknown: frozenset[str]
    """Local packages whose dependencies only a build could tell, and no lock recorded."""
    dynamic: frozenset[str]
    """Local packages that only a build could describe, and the copy describes by the old lock."""
    settings: Path
    """The file, inside the copy, from which uv takes its settings."""
    settings_prefix: tuple[str, ...]
    """`("tool", "uv")`, or nothing in a uv.toml."""
    lock: Path
    """Where uv finds and writes the uv.lock."""
    environment: Mapping[str, str]
    """Variables that make uv behave here as in the project."""

    def readable(self, text: str) -> str:
        """`text`, uv's output, with the project's own paths in place of the copy's."""
        origin = str(self.origin).rstrip("/")
        for tree in {str(self.base / "tree"), str((self.base / "tree").resolve())}:
            text = text.replace(tree, origin)
        return text

    def settings_table(self) -> dict[str, Any]:
        """uv's settings as they stand there now."""
        return self._settings()[1]

    def _settings(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The settings' file, and the table in it that is uv's."""
        document = toml.loads(self.settings.read_text("utf-8"), self.settings)
        table: dict[str, Any] = document
        for key in self.settings_prefix:
            table = table.setdefault(key, {})
        return document, table

    def inject(self, known: Collection[Known]) -> tuple[Known, ...]:
        """Give uv these packages' metadata; returns those that were not given there already."""
        document, table = self._settings()
        given = table.setdefault("dependency-metadata", [])
        taken = {(entry.get("name"), entry.get("version")) for entry in given}
        names = {name for name, version in taken if version is None}
        added = tuple(
            entry
            for entry in known
            if entry.name not in names and (entry.name, entry.version) not in taken
        )
        if added:
            given.extend(entry.table() for entry in added)
            _write_toml(self.settings, document)
        return added


@contextlib.contextmanager
def scratch(project: Project, files: Mapping[Path, bytes], lock: Lock | None) -> Iterator[Scratch]:
    """Build a scratch copy of `project` with `files` (relative paths) in place of its own.

    Raises:
        InputError: a file of the project is broken.
    """
    local = find_local(project, lock)
    folder = Path(tempfile.mkdtemp(prefix="stackfix-"))
    try:
        yield _build(project, files, lock, local, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _build(
    project: Project,
    files: Mapping[Path, bytes],
    lock: Lock | None,
    local: LocalFiles,
    folder: Path,
) -> Scratch:
    # The depth of the real root is kept below a common folder, so that `../lib` stays `../lib`.
    common = Path(os.path.commonpath([project.root, *local.folders, *local.links, *local.missing]))
    base = folder / "tree"

    def place(path: Path) -> Path:
        return base / path.relative_to(common)

    root = place(project.root)
    root.mkdir(parents=True)
    statics: list[Static] = []
    for path in sorted({project.root, *local.folders}):
        target = place(path)
        target.mkdir(parents=True, exist_ok=True)
        data = files.get(_relative(path, project.root) / "pyproject.toml")
        made = make_static(path, data, _entry(lock, path, project.root), lock)
        if made is not None:
            (target / "pyproject.toml").write_bytes(made.data)
            statics.append(made)
    for path in local.links:
        target = place(path)
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path)
    if lock is not None:
        (root / "uv.lock").write_bytes(lock.data)
    settings = _copy_settings(project, files, root)
    _copy_nearest(project.root, root, ".python-version")
    _copy_nearest(project.root, root, ".python-versions")
    return Scratch(
        root=root,
        base=folder,
        origin=common,
        unversioned=frozenset(static.name for static in statics if static.unversioned),
        unknown=frozenset(static.name for static in statics if static.unknown),
        dynamic=frozenset(static.name for static in statics if static.dynamic),
        settings=settings,
        settings_prefix=() if settings.name == "uv.toml" else ("tool", "uv"),
        lock=root / "uv.lock",
        environment={**_environment(project, settings), **local.variables},
    )


def _copy_settings(project: Project, files: Mapping[Path, bytes], root: Path) -> Path:
    """Put uv's settings where it finds them; a uv.toml above counts if there is no `[tool.uv]`.

    The file that UV_CONFIG_FILE names counts alone, as uv has it.
    """
    if named := os.environ.get("UV_CONFIG_FILE"):
        (root / "uv.toml").write_bytes(toml.read_bytes(Path(named), what="a uv.toml"))
        return root / "uv.toml"
    own = project.root / "uv.toml"
    if own.is_file():
        data = files.get(Path("uv.toml"))
        (root / "uv.toml").write_bytes(own.read_bytes() if data is None else data)
        return root / "uv.toml"
    document = toml.loads((root / "pyproject.toml").read_text("utf-8"), "pyproject.toml")
    if "uv" not in document.get("tool", {}):
        for folder in project.root.parents:
            if (folder / "uv.toml").is_file():
                shutil.copyfile(folder / "uv.toml", root / "uv.toml")
                return root / "uv.toml"
    return root / "pyproject.toml"


def _copy_nearest(start: Path, root: Path, name: str) -> None:
    for folder in (start, *start.parents):
        if (folder / name).is_file():
            shutil.copyfile(folder / name, root / name)
            return


def _environment(project: Project, settings: Path) -> dict[str, str]:
    document = toml.loads(settings.read_text("utf-8"), settings)
    table = document if settings.name == "uv.toml" else document.get("tool", {}).get("uv", {})
    cache = table.get("cache-dir")
    found = {}
    if isinstance(cache, str) and "UV_CACHE_DIR" not in os.environ:
        found["UV_CACHE_DIR"] = str(project.root / cache)  # else a cold cache, in the copy
    if "UV_CONFIG_FILE" in os.environ:
        found["UV_CONFIG_FILE"] = settings.name
    return found


def _entry(lock: Lock | None, path: Path, root: Path) -> Any:
    if lock is None:
        return None
    for package in lock.packages:
        source = package.source
        if source.is_local and Path(os.path.normpath(root / source.value)) == path:
            return package
    return None


def _relative(path: Path, root: Path) -> Path:
    return Path(os.path.relpath(path, root))


def _write_toml(path: Path, document: Mapping[str, Any]) -> None:
    import rtoml

    path.write_text(rtoml.dumps(document), "utf-8")
