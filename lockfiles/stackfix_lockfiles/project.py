"""A uv project: its workspace, what it declares and where, and the settings uv reads for it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from stackfix_lockfiles import toml, workspace
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.pyproject import Pyproject, TomlFile
from stackfix_lockfiles.requirement import DeclaredRequirement, IncludedGroup
from stackfix_lockfiles.sources import DeclaredIndex, DeclaredSource, indexes, sources

__all__ = ["Project", "UvSettings"]

_UV = ("tool", "uv")


@dataclass(frozen=True, kw_only=True)
class UvSettings:
    """Where uv takes its settings from: uv.toml if there is one, else `[tool.uv]`.

    Constraints, overrides, build constraints, environments and sources are no settings in this
    sense: `uv lock` takes them from the root's `[tool.uv]` even beside a uv.toml (tried with
    uv 0.13.9: the lock's manifest shows those of the pyproject.toml only). Indexes,
    dependency-metadata, index-strategy, exclude-newer and the like come from here.
    """

    file: TomlFile
    prefix: tuple[str, ...]
    """`("tool", "uv")`, or nothing in a uv.toml."""

    @property
    def table(self) -> Mapping[str, Any]:
        """The settings as written."""
        return self.file.table(*self.prefix)

    @property
    def is_uv_toml(self) -> bool:
        """Whether a uv.toml decides."""
        return not self.prefix


@dataclass(frozen=True, kw_only=True)
class Project:
    """A workspace: a root and its members, all read. Nothing is written through it."""

    root: Path
    """Absolute folder of the root pyproject.toml."""
    files: tuple[Pyproject, ...]
    """The root's pyproject.toml, then the members' in path order."""
    uv_config: UvSettings
    python_version: str | None
    """The request in `.python-version`, such as `3.12`; None without one."""

    @classmethod
    def find(cls, start: Path | str = ".") -> Project:
        """Find the uv project that `start` (a folder, or a file in one) belongs to.

        Raises:
            InputError: there is none, it belongs to another tool, or a file of it is broken.
        """
        folder = Path(os.path.abspath(start))
        if not folder.exists():
            raise InputError(str(start), "expected a folder with a pyproject.toml, found nothing")
        if folder.is_file():
            folder = folder.parent
        nearest = next(
            (path for path in (folder, *folder.parents) if (path / "pyproject.toml").is_file()),
            None,
        )
        if nearest is None:
            raise workspace.nothing(folder, shown(folder))
        return cls._read(nearest)

    @classmethod
    def _read(cls, folder: Path) -> Project:
        own = _pyproject(folder, folder)
        root = folder
        if "workspace" not in own.table(*_UV):
            root = workspace.workspace_root(folder) or folder
        main = own if root == folder else _pyproject(root, root)
        workspace.refuse_other_tools(main, root)
        if main.table(*_UV).get("managed") is False:
            raise main.fault(
                (*_UV, "managed"), "expected a project that uv manages, found managed = false"
            )
        others = tuple(_pyproject(path, root) for path in workspace.member_folders(main, root))
        return cls(
            root=root,
            files=(main, *others),
            uv_config=_settings(main, root),
            python_version=_python_version(root),
        )

    @property
    def main(self) -> Pyproject:
        """The root's pyproject.toml."""
        return self.files[0]

    @property
    def name(self) -> str | None:
        """The root project's name; None for a workspace without a root project."""
        return self.main.name

    @property
    def lock_path(self) -> Path:
        """Where the uv.lock is, or would be."""
        return self.root / "uv.lock"

    def read_lock(self) -> Lock:
        """Read the uv.lock, once for this project; InputError if it is missing or broken."""
        return self._lock

    @cached_property
    def _lock(self) -> Lock:
        return Lock.read(self.lock_path, name=shown(self.lock_path))

    def file(self, path: Path) -> Pyproject:
        """Return the pyproject.toml at a path relative to the root; KeyError if it is none."""
        for file in self.files:
            if file.path == path:
                return file
        raise KeyError(path)

    def with_files(self, files: Mapping[Path, bytes]) -> Project:
        """The project with new content of some of its files: pyproject.toml, members', uv.toml.

        Raises InputError for content that is no TOML.
        """

        read = tuple(
            file.with_content(files[file.path]) if file.path in files else file
            for file in self.files
        )
        settings = self.uv_config
        file: TomlFile = settings.file if settings.is_uv_toml else read[0]
        if settings.is_uv_toml and file.path in files:
            file = file.with_content(files[file.path])
        return replace(self, files=read, uv_config=replace(settings, file=file))

    def without(self, members: Collection[Path]) -> Project:
        """The project without the pyproject files of some members."""
        return replace(self, files=tuple(f for f in self.files if f.path not in members))

    @property
    def requires_python(self) -> str | None:
        """The root project's `requires-python`; the lock has the whole workspace's."""
        value = self.main.table("project").get("requires-python")
        return value if isinstance(value, str) else None

    @cached_property
    def default_groups(self) -> tuple[str, ...] | str:
        """The groups `uv sync` takes unasked; the text `all` for every group."""
        value = self.main.table(*_UV).get("default-groups")
        if value == "all":
            return "all"
        return ("dev",) if value is None else self.main.strings(*_UV, "default-groups")

    @cached_property
    def requirements(self) -> tuple[DeclaredRequirement, ...]:
        """Every requirement declared in the workspace, root first."""
        return tuple(found for file in self.files for found in file.requirements)

    def declaring(self, requirements: tuple[DeclaredRequirement, ...]) -> Project:
        """This project as it will be with other requirements in place of the declared ones.

        Files and everything else stay: edits are made out of what it declares, and applied to the
        project that was read.
        """
        other = replace(self)
        other.__dict__["requirements"] = requirements
        return other

    @cached_property
    def included_groups(self) -> tuple[IncludedGroup, ...]:
        """Every `include-group` entry of the workspace."""
        return tuple(found for file in self.files for found in file.included_groups)

    @cached_property
    def constraints(self) -> tuple[DeclaredRequirement, ...]:
        """`tool.uv.constraint-dependencies` of the root: uv reads no others."""
        return tuple(self.main.declared(*_UV, "constraint-dependencies"))

    @cached_property
    def overrides(self) -> tuple[DeclaredRequirement, ...]:
        """`tool.uv.override-dependencies` of the root."""
        return tuple(self.main.declared(*_UV, "override-dependencies"))

    def declarations_of(self, name: str) -> Iterator[DeclaredRequirement]:
        """Yield every requirement, constraint and override of a (normalised) package name."""
        for found in (*self.requirements, *self.constraints, *self.overrides):
            if found.name == name:
                yield found

    @cached_property
    def sources(self) -> tuple[DeclaredSource, ...]:
        """Every source declared in the workspace; the root's hold for members without their own."""
        return tuple(found for file in self.files for found in sources(file))

    @cached_property
    def indexes(self) -> tuple[DeclaredIndex, ...]:
        """The indexes uv asks, in order of priority."""
        return tuple(indexes(self.uv_config.file, *self.uv_config.prefix))

    @cached_property
    def source_indexes(self) -> tuple[DeclaredIndex, ...]:
        """The indexes that a source of the root may name: a uv.toml's are none of them."""
        return tuple(indexes(self.main, *_UV))

    @property
    def environments(self) -> tuple[str, ...]:
        """`tool.uv.environments`: the markers the lock is limited to."""
        return self._markers("environments")

    def _markers(self, key: str) -> tuple[str, ...]:
        value = self.main.table(*_UV).get(key)
        return (value,) if isinstance(value, str) else self.main.strings(*_UV, key)

    @property
    def tool_stackfix(self) -> Mapping[str, Any]:
        """`[tool.stackfix]` of the root."""
        return self.main.table("tool", "stackfix")


def shown(path: Path) -> str:
    """Return a path as a user would type it: relative to the current folder where it is below."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return str(path)
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _pyproject(folder: Path, root: Path) -> Pyproject:
    path = folder / "pyproject.toml"
    return Pyproject.read(path, root, shown(path), what="a pyproject.toml")


def _settings(main: Pyproject, root: Path) -> UvSettings:
    path = root / "uv.toml"
    if not path.is_file():
        return UvSettings(file=main, prefix=_UV)
    return UvSettings(file=TomlFile.read(path, root, shown(path), what="a uv.toml"), prefix=())


def _python_version(root: Path) -> str | None:
    path = root / ".python-version"
    if not path.is_file():
        return None
    data = toml.read_bytes(path, name=shown(path), what="a Python version")
    for line in data.decode("utf-8", errors="replace").splitlines():
        if text := line.split("#", 1)[0].strip():
            return text
    return None
