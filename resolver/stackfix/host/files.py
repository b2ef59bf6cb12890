"""Reading the kernel's small files: what is not there or may not be read is nothing."""

from __future__ import annotations

from pathlib import Path

__all__ = ["entries", "read"]

_MOST_BYTES = 1 << 16


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
