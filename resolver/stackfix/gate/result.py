"""What a check found, as plain data: reports read it, and it travels between processes."""

from __future__ import annotations

from dataclasses import dataclass

from stackfix.audit.locations import Location
from stackfix.model.finding import Severity
from stackfix_knowledge.evidence import Evidence

__all__ = ["Checked", "Hit", "Moved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing that is wrong, on all targets where it is."""

    code: str
    severity: Severity
    package: str
    version: str
    message: str
    """A whole sentence."""
    targets: tuple[str, ...] = ()
    """Labels; empty: it holds whatever the target."""
    everywhere: bool = False
    """Whether these are all targets of the lock."""
    evidence: tuple[Evidence, ...] = ()
    fix: str | None = None
    via: tuple[str, ...] = ()
    """Who brings the package: names from the project to it."""
    only: str = ""
    """Where alone it appears, "extra cu128"; empty: in the plain environment too."""
    lock: Location | None = None
    """The package in the lock."""
    declared: Location | None = None
    """The requirement in pyproject.toml that brings it."""

    @property
    def title(self) -> str:
        """ "torch 2.7.1"."""
        return f"{self.package} {self.version}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A GPU package that the change moved."""

    package: str
    before: str | None
    """None: it is new."""
    after: str | None
    """None: it is gone."""
    was: str | None = None
    """Its name before, where that changed with the CUDA major (nvidia-nccl-cu12)."""
    details: tuple[str, ...] = ()
    """What that means: "CUDA 12.8 → 13.0", "drops 7.0", "needs driver ≥ 580"."""
    matters_to: tuple[str, ...] = ()
    """Labels of the targets for which it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The check of one lock."""

    path: str
    """As reports name it: relative to the repository, with forward slashes."""
    targets: tuple[str, ...] = ()
    """Labels."""
    hits: tuple[Hit, ...] = ()
    """Worst first; with a base, only what the change makes worse."""
    base: str | None = None
    """What it was compared with."""
    repaired: tuple[Hit, ...] = ()
    """With a base: what the change mends."""
    kept: int = 0
    """With a base: findings that were there before and still are."""
    moved: tuple[Moved, ...] = ()
    gpu_packages: int = 0
    unknown: tuple[str, ...] = ()
    """GPU packages nobody measured, as `name==version`."""
    unread: tuple[str, ...] = ()
    """Packages whose requirements nobody read, so that SF502 says nothing of them."""
    ignored: int = 0
    """Findings that the project accepts."""
    notes: tuple[str, ...] = ()
    judged: tuple[str, ...] = ()
    """The environments beside the plain one: extras, groups, Pythons, platforms."""
    fail_on: Severity = Severity.ERROR

    @property
    def fails(self) -> bool:
        """Whether a finding is as bad as `fail_on`, or worse."""
        order = list(Severity)
        return any(order.index(hit.severity) <= order.index(self.fail_on) for hit in self.hits)

    def count(self, severity: Severity) -> int:
        return sum(hit.severity is severity for hit in self.hits)
