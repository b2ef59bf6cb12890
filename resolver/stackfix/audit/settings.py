"""`[tool.stackfix]` as the gate reads it: what a project decides about its own check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackfix.model.finding import Severity
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import shown
from stackfix_lockfiles.pyproject import Pyproject

__all__ = ["OFF", "Policy", "nearest_settings", "policy"]

OFF = "off"
_LEVELS = (*Severity, OFF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a finding costs."""

    severities: Mapping[str, Severity | None]
    """By code, the severity to use instead of the rule's; None: the rule is off."""
    fail_on: Severity
    """The least severity that fails the check."""


def policy(file: Pyproject | None, fail_on: str | None = None) -> Policy:
    """The policy of a project's file; the command line's `fail_on` goes before the file's.

    Raises InputError for a severity or a level that does not exist.
    """
    table: Mapping[str, Any] = file.table("tool", "stackfix") if file else {}
    chosen = fail_on or table.get("fail-on", Severity.ERROR)
    if chosen not in ("error", "warning"):
        assert file is not None
        raise file.fault(("tool", "stackfix", "fail-on"), 'expected "error" or "warning"')
    severities: dict[str, Severity | None] = {}
    rules = table.get("severity", {})
    if file and not isinstance(rules, dict):
        raise file.fault(
            ("tool", "stackfix", "severity"), 'expected a table such as { SF104 = "off" }'
        )
    for code, level in rules.items():
        if file and level not in _LEVELS:
            raise file.fault(
                ("tool", "stackfix", "severity", code), f"expected one of {', '.join(_LEVELS)}"
            )
        severities[code.upper()] = None if level == OFF else Severity(level)
    return Policy(severities=severities, fail_on=Severity(chosen))


def nearest_settings(folder: Path) -> Pyproject | None:
    """The closest pyproject.toml at or above `folder` that has `[tool.stackfix]`.

    The search ends at the repository's root, so that a repository of many projects can name its
    targets once. A file on the way that cannot be read is passed over: it is not the lock's own.
    """
    for place in (folder, *folder.parents):
        path = place / "pyproject.toml"
        if path.is_file():
            try:
                file = Pyproject.read(path, place, shown(path), what="a pyproject.toml")
                if file.table("tool", "stackfix"):
                    return file
            except InputError:
                pass
        if (place / ".git").exists():
            break
    return None
