"""`[tool.stackfix] ignore`: findings that a project accepts, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from packaging.utils import canonicalize_name

from stackfix.model.finding import Finding
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.pyproject import Pyproject

__all__ = ["Ignored", "ignored", "ignored_in", "kept"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """One accepted finding: a code, a package or all, the reason, and until when."""

    code: str
    reason: str
    package: str | None = None
    until: date | None = None

    def covers(self, finding: Finding, today: date) -> bool:
        """Whether this entry accepts the finding; an expired one accepts nothing."""
        return (
            finding.code == self.code
            and self.package in {None, finding.package}
            and (self.until is None or today <= self.until)
        )


def ignored(project: Project) -> tuple[Ignored, ...]:
    """The project's entries; InputError for one without a code or a reason."""
    return ignored_in(project.main)


def ignored_in(file: Pyproject) -> tuple[Ignored, ...]:
    """The entries of a pyproject.toml; InputError for one without a code or a reason."""
    entries = file.table("tool", "stackfix").get("ignore", [])
    if not isinstance(entries, list):
        raise file.fault(("tool", "stackfix", "ignore"), "expected an array of tables")
    return tuple(_entry(file, index, entry) for index, entry in enumerate(entries))


def _entry(file: Pyproject, index: int, entry: Any) -> Ignored:
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
    return Ignored(
        code=code.upper(),
        reason=reason,
        package=str(canonicalize_name(package)) if package else None,
        until=until,
    )


def kept(findings: Iterable[Finding], entries: tuple[Ignored, ...]) -> tuple[Finding, ...]:
    """The findings that no entry accepts."""
    if not entries:
        return tuple(findings)
    today = date.today()
    return tuple(f for f in findings if not any(e.covers(f, today) for e in entries))
