"""Reading and writing uv projects: pyproject.toml, uv.lock, what uv makes of them. Knows no GPU.

Three functions share their name with the module that holds them, which is what this package has
under it: `relock.relock` makes a lock, `environment.environment` says what it installs,
`diff.diff` compares two.

A name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix_lockfiles.diff import PackageChange, drift
    from stackfix_lockfiles.edits import (
        Edit,
        add_constraint,
        add_index,
        add_source,
        apply_edits,
        replace_requirement,
    )
    from stackfix_lockfiles.environment import Environment
    from stackfix_lockfiles.errors import InputError, LockfilesError
    from stackfix_lockfiles.lock import Lock, LockedPackage, SourceKind
    from stackfix_lockfiles.markers import Marker
    from stackfix_lockfiles.metadata import requires
    from stackfix_lockfiles.outdated import Difference, differences
    from stackfix_lockfiles.platforms import Platform
    from stackfix_lockfiles.project import Project
    from stackfix_lockfiles.relock import IndexUnreachable, Relocked, RelockRefused, Unsolvable
    from stackfix_lockfiles.transaction import commit, recover, undo
    from stackfix_lockfiles.uv import Uv

    __version__: str

__all__ = [
    "Difference",
    "Edit",
    "Environment",
    "IndexUnreachable",
    "InputError",
    "Lock",
    "LockedPackage",
    "LockfilesError",
    "Marker",
    "PackageChange",
    "Platform",
    "Project",
    "RelockRefused",
    "Relocked",
    "SourceKind",
    "Unsolvable",
    "Uv",
    "__version__",
    "add_constraint",
    "add_index",
    "add_source",
    "apply_edits",
    "commit",
    "differences",
    "drift",
    "recover",
    "replace_requirement",
    "requires",
    "undo",
]

_HOMES = {
    "Difference": "outdated",
    "Edit": "edits",
    "Environment": "environment",
    "IndexUnreachable": "relock",
    "InputError": "errors",
    "Lock": "lock",
    "LockedPackage": "lock",
    "LockfilesError": "errors",
    "Marker": "markers",
    "PackageChange": "diff",
    "Platform": "platforms",
    "Project": "project",
    "RelockRefused": "relock",
    "Relocked": "relock",
    "SourceKind": "lock",
    "Unsolvable": "relock",
    "Uv": "uv",
    "add_constraint": "edits",
    "add_index": "edits",
    "add_source": "edits",
    "apply_edits": "edits",
    "commit": "transaction",
    "differences": "outdated",
    "drift": "diff",
    "recover": "transaction",
    "replace_requirement": "edits",
    "requires": "metadata",
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
