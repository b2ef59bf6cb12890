"""What stands behind a fact: where it comes from, and how bad it is where it applies."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Evidence", "EvidenceKind", "Fact", "FactSeverity"]


class EvidenceKind(StrEnum):
    """How a fact became known, strongest first."""

    MEASURED = "measured"
    """Read from a wheel's binaries."""
    METADATA = "metadata"
    """Read from a wheel's own METADATA."""
    DOCUMENTED = "documented"
    """The vendor or the project says so."""
    REPORTED = "reported"
    """Someone said so in an issue or a forum."""


class Evidence(NamedTuple):
    """One source of one fact."""

    kind: EvidenceKind
    """How the fact became known."""
    source: str
    """A wheel's file name, or the address or title of a document."""
    date: str | None = None
    """When it was read or written, as ISO 8601 (``2026-11-30``)."""
    sha256: str | None = None
    """Digest of the wheel that was read, in hexadecimal."""
    words: str | None = None
    """The words of the document that matter."""
    confirmed: bool | None = None
    """Whether someone else confirmed a report; None where that says nothing."""

    def describe(self) -> str:
        """One line for a report."""
        details = [self.date] if self.date else []
        if self.sha256:
            details.append(f"sha256 {self.sha256[:12]}…")
        if self.kind is EvidenceKind.REPORTED:
            details.append("confirmed" if self.confirmed else "not confirmed")
        line = f"{_OPENING[self.kind]} {self.source}"
        if details:
            line += f" ({', '.join(details)})"
        if self.words:
            line += f": “{' '.join(self.words.split())}”"
        return line


_OPENING = {
    EvidenceKind.MEASURED: "measured in",
    EvidenceKind.METADATA: "metadata of",
    EvidenceKind.DOCUMENTED: "documented by",
    EvidenceKind.REPORTED: "reported in",
}


Value = TypeVar("Value", covariant=True)


class Fact(NamedTuple, Generic[Value]):
    """One fact as a query returns it: what is known, and from where.

    A query that knows nothing returns None instead of a Fact.
    """

    value: Value
    """The fact itself."""

    evidence: tuple[Evidence, ...]
    """Where it comes from; never empty."""

    note: str | None = None
    """What a reader should know before relying on it ("derived from the toolkit's driver")."""

    def __str__(self) -> str:
        return str(self.value)


class FactSeverity(StrEnum):
    """What a fact may make of a stack, worst first."""

    ERROR = "error"
    """A normal run crashes, hangs or computes wrong results, and all conditions can be checked."""
    WARNING = "warning"
    """It may, under conditions that cannot be seen from outside."""
    INFO = "info"
    """Worth knowing; rare, or a change of behaviour."""
