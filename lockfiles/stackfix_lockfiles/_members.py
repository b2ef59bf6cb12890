"""The members of a uv workspace: which folders its globs mean."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from pathlib import Path

from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.pyproject import Pyproject

__all__ = ["folders", "workspace_root"]

_MAX_MEMBERS = 10_000


def folders(main: Pyproject, root: Path) -> list[Path]:
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
        return parent if folder in folders(file, parent) else None
    return None


def _excluded(path: Path, root: Path, patterns: Iterable[str]) -> bool:
    relative = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    return any(
        fnmatch.fnmatchcase(relative, pattern.removeprefix("./").rstrip("/"))
        for pattern in patterns
    )
