"""`[tool.stackfix]` of a project: what it decides about findings, and the facts that it adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from stackfix.model.finding import Severity
from stackfix.model.policy import AcceptedFinding, Policy
from stackfix_index.names import normalized
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project, shown
from stackfix_lockfiles.pyproject import Pyproject

__all__ = ["declaring", "nearest_settings", "overlays", "policy", "settings_of"]

_OFF = "off"
_LEVELS = (*Severity, _OFF)


def settings_of(project: Project | None, folder: Path) -> Pyproject | None:
    """The file whose `[tool.stackfix]` counts: the project's own, else the nearest above `folder`.

    None where nobody has decided anything.
    """
    if project is not None and project.tool_stackfix:
        return project.main
    return nearest_settings(folder)


def declaring(project: Project | None, folder: Path) -> Iterator[Pyproject]:
    """The files that may declare targets: the project's own, then the nearest above `folder`.

    The second is read only where the first declares none.
    """
    if project is not None:
        yield project.main
    if (nearest := nearest_settings(folder)) is not None:
        yield nearest


def policy(file: Pyproject | None, fail_on: str | None = None) -> Policy:
    """What a project decides; the command line's `fail_on` goes before the file's.

    Raises InputError for a severity or a level that does not exist, and for an accepted finding
    without a code or a reason.
    """
    table: Mapping[str, Any] = file.table("tool", "stackfix") if file else {}
    chosen = fail_on or table.get("fail-on", Severity.ERROR)
    if chosen not in ("error", "warning"):
        assert file is not None
        raise file.fault(("tool", "stackfix", "fail-on"), 'expected "error" or "warning"')
    return Policy(
        severities=_severities(file, table.get("severity", {})) if file else {},
        accepted=_accepted(file, table.get("ignore", [])) if file else (),
        fail_on=Severity(chosen),
    )


def overlays(file: Pyproject | None) -> tuple[Path, ...]:
    """The facts that a project adds; InputError where `knowledge` is no list of paths."""
    if file is None:
        return ()
    paths = file.table("tool", "stackfix").get("knowledge", [])
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise file.fault(("tool", "stackfix", "knowledge"), "expected a list of paths")
    folder = Path(file.shown).absolute().parent
    return tuple(folder / path for path in paths)


def _severities(file: Pyproject, rules: object) -> dict[str, Severity | None]:
    if not isinstance(rules, dict):
        raise file.fault(
            ("tool", "stackfix", "severity"), 'expected a table such as { SF104 = "off" }'
        )
    found: dict[str, Severity | None] = {}
    for code, level in rules.items():
        if level not in _LEVELS:
            raise file.fault(
                ("tool", "stackfix", "severity", code), f"expected one of {', '.join(_LEVELS)}"
            )
        found[code.upper()] = None if level == _OFF else Severity(level)
    return found


def _accepted(file: Pyproject, entries: object) -> tuple[AcceptedFinding, ...]:
    if not isinstance(entries, list):
        raise file.fault(("tool", "stackfix", "ignore"), "expected an array of tables")
    return tuple(_entry(file, index, entry) for index, entry in enumerate(entries))


def _entry(file: Pyproject, index: int, entry: Any) -> AcceptedFinding:
    def fault(expected: str) -> InputError:
        return file.fault(("tool", "stackfix", "ignore", index), expected)

    if not isinstance(entry, Mapping):
        raise fault('expected a table such as { code = "SF102", reason = "…" }')
    code, reason = entry.get("code"), entry.get("reason")
    package, until = entry.get("package"), entry.get("until")
    if not isinstance(code, str) or not code:
        raise fault('expected a code such as "SF102"')
    if not isinstance(reason, str) or not reason.strip():
        raise fault(f"expected a reason for ignoring {code}")
    if package is not None and not isinstance(package, str):
        raise fault("expected a package name")
    if until is not None and not isinstance(until, date):
        raise fault("expected a date such as 2027-01-31 (without quotes)")
    return AcceptedFinding(
        code=code.upper(),
        reason=reason,
        package=normalized(package) if package else None,
        until=until,
    )


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
