"""Copies of a project's own packages, for a build that must not write in the project."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from stackfix.validate.closure import CannotInstall
from stackfix.wording import size

__all__ = ["copy_sources"]

_MOST_BYTES = 4 << 30
_MOST_FILES = 200_000
_LINKED = 64 << 20
"""Bytes from which a file is linked and not copied: data and weights, which no build writes."""
_LEFT_OUT = frozenset(
    {"__pycache__", "node_modules", ".tox", ".nox", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)


def copy_sources(folders: Mapping[Path, Path]) -> None:
    """Copy each folder to its target; what the target has already, as a plan's files, stays.

    Environments and caches are left out. A repository's history is referred to, not copied, for
    builds that take their version from it. Raises CannotInstall for a folder that is too large, or
    that cannot be read.
    """
    files = left = 0
    for folder, target in sorted(folders.items()):
        try:
            for source, place in _files(folder, target):
                files += 1
                left += _copy(source, place)
                if files > _MOST_FILES or left > _MOST_BYTES:
                    raise CannotInstall(
                        f"{folder} is too large to be copied for a build: expected at most"
                        f" {_MOST_FILES:,} files and {size(_MOST_BYTES)}"
                    )
            _refer_to_history(folder, target)
        except OSError as error:
            raise CannotInstall(
                f"{error.filename or folder} could not be copied for a build ({error.strerror})"
            ) from None


def _files(folder: Path, target: Path) -> list[tuple[Path, Path]]:
    found = []
    for path, names, files in os.walk(folder):
        here = Path(path)
        names[:] = [
            name
            for name in names
            if name not in _LEFT_OUT
            and name != ".git"
            and not (here / name / "pyvenv.cfg").exists()
            and not (here / name).is_symlink()
        ]
        linked = [entry.name for entry in os.scandir(here) if entry.is_symlink()]
        place = target / here.relative_to(folder)
        for name in {*files, *linked} - {".git"}:
            found.append((here / name, place / name))
            if len(found) > _MOST_FILES:
                return found
    return found


def _copy(source: Path, place: Path) -> int:
    """Copy one file unless it is there; returns the bytes."""
    if os.path.lexists(place):
        return 0
    place.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink():
        place.symlink_to(_where(source))
        return 0
    if not source.is_file():  # a socket, a pipe: no source
        return 0
    number = source.stat().st_size
    if number >= _LINKED:
        place.symlink_to(source.absolute())
        return 0
    shutil.copy2(source, place)
    return number


def _where(link: Path) -> str:
    """Where a copied link has to lead: the same place, also if that lies outside the folder."""
    value = os.readlink(link)
    inside = not os.path.isabs(value) and not os.path.normpath(value).startswith("..")
    return value if inside else os.path.normpath(link.parent / value)


def _refer_to_history(folder: Path, target: Path) -> None:
    history = folder / ".git"
    if not history.is_dir() or os.path.lexists(target / ".git"):
        return
    target.mkdir(parents=True, exist_ok=True)
    (target / ".git").write_text(f"gitdir: {history.resolve()}\n")
