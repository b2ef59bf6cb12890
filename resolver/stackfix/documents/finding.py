"""A finding and its evidence as documents."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from stackfix.documents.document import Document
from stackfix.model.finding import Severity
from stackfix_knowledge.evidence import EvidenceKind

__all__ = ["Code", "EvidenceDocument", "FindingDocument"]

Code = Annotated[str, Meta(pattern=r"^SF[0-9]{3}$", title='a code such as "SF101"')]


class EvidenceDocument(Document):
    """One source of one fact."""

    kind: EvidenceKind
    """How the fact became known."""
    source: str
    """A wheel's file name, or the address or title of a document."""
    date: str | None
    """When it was read or written, as ISO 8601."""
    sha256: str | None
    """Digest of the wheel that was read, in hexadecimal."""
    words: str | None
    """The words of the document that matter."""
    confirmed: bool | None
    """Whether someone else confirmed a report; null where that says nothing."""


class FindingDocument(Document):
    """One fault of one package on one target, with the facts that show it."""

    code: Code
    severity: Severity
    package: str
    version: str
    target: str | None
    """A target's label; null: holds on every target."""
    message: str
    evidence: tuple[EvidenceDocument, ...]
    fix: str | None
    """What clears it where that is not a move of pins."""

    @classmethod
    def derived(cls, source: Any) -> dict[str, Any]:
        return {"target": source.target.label if source.target else None}
