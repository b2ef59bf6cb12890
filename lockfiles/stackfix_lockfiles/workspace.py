"""Which folders make a uv workspace, and which hold a project of another tool."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from pathlib import Path

from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.pyproject import Pyproject

__all__ = ["member_folders", "nothing", "refuse_other_tools", "workspace_root"]

_MAX_MEMBERS = 10_000


def member_folders(main: Pyproject, root: Path) -> list[Path]:
    """Return the folders of the members beside the root, in path order.

    A folder without a pyproject.toml is no member. Raises InputError for a pattern that is none,
    or that matches more than 10,000 folders.
    """
    keys = ("tool", "uv", "workspace")
    if "workspace" not in main.table("tool", "uv"):
        return []
    excluded = main.strings(*keys, "exclude")
    found: set[Path] = set()
    for index, pattern in enumerate(main.strings(*keys, "members")):
        try:
            for path in root.glob(pattern.removesuffix("/") or "."):
                if (path / "pyproject.toml").is_file() and not _excluded(path, root, excluded):
                    found.add(path)
                if len(found) > _MAX_MEMBERS:
                    expected = f"expected at most {_MAX_MEMBERS} members, {pattern!r} matches more"
                    raise main.fault((*keys, "members", index), expected)
        except (ValueError, NotImplementedError, IndexError, OSError) as error:
            expected = f"expected a glob relative to the project, found {pattern[:80]!r}"
            raise main.fault((*keys, "members", index), expected) from error
    return sorted(found - {root})


def workspace_root(folder: Path) -> Path | None:
    """Return the root of the workspace that has `folder` as a member; None if none does.

    The nearest pyproject.toml above that has a `[tool.uv.workspace]` decides, as in uv.
    """
    for parent in folder.parents:
        path = parent / "pyproject.toml"
        if not path.is_file():
            continue
        try:
            file = Pyproject.read(path, parent, str(path), what="a pyproject.toml")
            table = file.table("tool", "uv")
        except InputError:
            continue  # a broken file above is not this project's fault
        if "workspace" not in table:
            continue
        return parent if folder in member_folders(file, parent) else None
    return None


def _excluded(path: Path, root: Path, patterns: Iterable[str]) -> bool:
    relative = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    return any(
        fnmatch.fnmatchcase(relative, pattern.removeprefix("./").rstrip("/"))
        for pattern in patterns
    )


_EXPECTED = "expected a uv project (a pyproject.toml with [project], and its uv.lock)"
_LOCKS = {
    "poetry.lock": "Poetry",
    "pdm.lock": "PDM",
    "pixi.lock": "pixi",
    "pixi.toml": "pixi",
    "Pipfile.lock": "Pipenv",
    "Pipfile": "Pipenv",
}
_OTHERS = {
    **_LOCKS,
    "environment.yml": "conda",
    "environment.yaml": "conda",
    "conda-lock.yml": "conda",
    "requirements.txt": "pip",
    "requirements.in": "pip-tools",
    "setup.py": "setuptools, without metadata in a pyproject.toml",
}
_WAY = {
    "Poetry": "`uvx migrate-to-uv` converts it",
    "PDM": "`uvx migrate-to-uv` converts it",
    "Pipenv": "`uvx migrate-to-uv` converts it",
    "pip": "`uv init --bare && uv add -r requirements.txt` makes one of it",
    "pip-tools": "`uv init --bare && uv add -r requirements.in` makes one of it",
}


def nothing(folder: Path, shown: str) -> InputError:
    """Return the error for a folder without a pyproject.toml in it or above it."""
    for marker, tool in _OTHERS.items():
        if (folder / marker).is_file():
            return _error(shown, marker, tool)
    if (folder / "uv.lock").is_file():
        return InputError(shown, f"{_EXPECTED}, found a uv.lock without its pyproject.toml")
    return InputError(shown, f"{_EXPECTED}, found no pyproject.toml here or in a folder above")


def refuse_other_tools(main: Pyproject, root: Path) -> None:
    """Raise InputError if the pyproject.toml belongs to another tool, or describes no project."""
    if (root / "uv.lock").is_file() or "workspace" in main.table("tool", "uv"):
        if not _is_project(main):
            raise InputError(main.shown, "expected a [project] or [tool.uv.workspace] table")
        return
    tools = main.table("tool")
    if "poetry" in tools and not _is_project(main):
        raise _error(main.shown, "[tool.poetry] without [project]", "Poetry")
    if "uv" not in tools:
        for name, tool in _LOCKS.items():
            if (root / name).is_file():
                raise _error(main.shown, name, tool)
    if "pixi" in tools:
        raise _error(main.shown, "[tool.pixi]", "pixi")
    if not _is_project(main):
        for name, tool in _OTHERS.items():
            if (root / name).is_file():
                raise _error(main.shown, name, tool)
        raise InputError(main.shown, f"{_EXPECTED}, found no [project] table")


def _is_project(main: Pyproject) -> bool:
    # uv also takes a [tool.uv] without a [project]: the older form of a workspace without a root.
    return "project" in main.document or bool(main.table("tool", "uv"))


def _error(shown: str, marker: str, tool: str) -> InputError:
    way = _WAY.get(tool)
    return InputError(
        shown, f"{_EXPECTED}, found one for {tool} ({marker})" + (f"; {way}" if way else "")
    )
