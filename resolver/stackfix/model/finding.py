"""A finding: what a rule says about one package on one target."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from stackfix.model.target import Target
from stackfix_knowledge.evidence import Evidence

__all__ = ["Finding", "Severity"]


class Severity(StrEnum):
    """How much a finding matters: only errors have to be cleared by a plan."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault of one locked package, with the facts that show it.

    `message` is a whole sentence that stands alone. `fix` says what clears it where that is not
    a move of pins (a driver, an environment variable). `target` is None for what holds on every
    target alike (a collision of files).
    """

    code: str
    severity: Severity
    package: str
    version: str
    message: str
    target: Target | None = None
    evidence: tuple[Evidence, ...] = ()
    fix: str | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What makes two findings the same finding when locks are compared."""
        return (self.code, self.package, self.version, self.target.label if self.target else "")
