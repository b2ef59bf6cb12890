"""The installed version."""

from __future__ import annotations

__all__ = ["version"]


def version() -> str:
    """As the package's metadata has it; "unknown" when run from a tree that is not installed."""
    from importlib import metadata

    try:
        return metadata.version("stackfix")
    except metadata.PackageNotFoundError:
        return "unknown"
