"""Folders that hold a project of another tool: say which, and what is expected instead."""

from __future__ import annotations

from pathlib import Path

from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.pyproject import Pyproject

__all__ = ["nothing", "refuse_other_tools"]

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
