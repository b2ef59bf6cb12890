"""Reading the kernel's small files: what is not there or may not be read is nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

__all__ = ["below", "entries", "folders", "read"]

_MOST_BYTES = 1 << 16
_MOST_FOLDERS = 64


def read(path: Path, most: int = _MOST_BYTES) -> str | None:
    """The start of a text file, or None."""
    try:
        with path.open("rb") as file:
            return file.read(most).decode(errors="replace")
    except (OSError, ValueError):  # ValueError: a zero byte in a path that somebody else wrote
        return None


def entries(folder: Path) -> list[Path] | None:
    """What lies in a folder, in order; None: there is no such folder."""
    try:
        return sorted(folder.iterdir())
    except (OSError, ValueError):
        return None


def folders(setting: str | None) -> Iterator[str]:
    """The absolute folders of a search path such as PATH."""
    return islice((p for p in (setting or "").split(":") if p.startswith("/")), _MOST_FOLDERS)


def below(root: Path, path: str) -> Path:
    """An absolute path, below another root than the machine's."""
    return root / path.lstrip("/")
