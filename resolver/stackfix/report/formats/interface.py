"""What a format is: it gets one lock's result after the other and never holds them all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from stackfix.gate.result import Checked
from stackfix.model.finding import Severity

__all__ = ["Format", "Totals"]


@dataclass(slots=True)
class Totals:
    """Counts over all locks of a run."""

    locks: int = 0
    failing: int = 0
    errors: int = 0
    warnings: int = 0
    infos: int = 0
    repaired: int = 0
    ignored: int = 0
    base: str | None = None
    targets: set[str] = field(default_factory=set)

    def add(self, checked: Checked) -> None:
        """Count one lock."""
        self.locks += 1
        self.failing += checked.fails
        self.errors += checked.count(Severity.ERROR)
        self.warnings += checked.count(Severity.WARNING)
        self.infos += checked.count(Severity.INFO)
        self.repaired += len(checked.repaired)
        self.ignored += checked.ignored
        self.base = checked.base or self.base
        self.targets.update(checked.targets)


@runtime_checkable
class Format(Protocol):
    """Turns results into text, piece by piece."""

    def begin(self) -> Iterable[str]:
        """What comes before the first lock."""
        ...

    def lock(self, checked: Checked) -> Iterable[str]:
        """One lock."""
        ...

    def end(self, totals: Totals) -> Iterable[str]:
        """What comes after the last lock."""
        ...
