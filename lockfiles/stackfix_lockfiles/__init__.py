"""uv.lock and pyproject.toml: read, walk, edit, relock, commit. Knows no GPU.

A name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix_lockfiles.diff import PackageChange
    from stackfix_lockfiles.edits import Edit, apply_edits
    from stackfix_lockfiles.environment import Environment
    from stackfix_lockfiles.errors import InputError, LockfilesError
    from stackfix_lockfiles.lock import Lock, LockedPackage
    from stackfix_lockfiles.platforms import Platform
    from stackfix_lockfiles.project import Project
    from stackfix_lockfiles.relock import Relocked, RelockRefused
    from stackfix_lockfiles.transaction import commit, recover, undo

    __version__: str

__all__ = [
    "Edit",
    "Environment",
    "InputError",
    "Lock",
    "LockedPackage",
    "LockfilesError",
    "PackageChange",
    "Platform",
    "Project",
    "RelockRefused",
    "Relocked",
    "__version__",
    "apply_edits",
    "commit",
    "recover",
    "undo",
]

_HOMES = {
    "Edit": "edits",
    "Environment": "environment",
    "InputError": "errors",
    "Lock": "lock",
    "LockedPackage": "lock",
    "LockfilesError": "errors",
    "PackageChange": "diff",
    "Platform": "platforms",
    "Project": "project",
    "RelockRefused": "relock",
    "Relocked": "relock",
    "apply_edits": "edits",
    "commit": "transaction",
    "recover": "transaction",
    "undo": "transaction",
}
"""The module of each name, below this package."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("stackfix")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
