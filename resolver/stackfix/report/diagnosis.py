"""A diagnosis as a document, which can be fit for sharing, and as text made from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from stackfix.diagnose.diagnosis import Confidence, StackMatch
from stackfix.documents.document import Document
from stackfix.report.text import grid, plain
from stackfix.wording import count, listed
from stackfix_knowledge.logs.signatures import LineRole, RemedyKind

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stackfix.diagnose.diagnosis import Diagnosis, Event
    from stackfix.diagnose.redact import Redactor

__all__ = ["DiagnosisDocument", "diagnosis_document", "diagnosis_text"]

_LINE = 300
"""Characters of a log's line that are shown."""
_REPEATS = 6
"""Wrappers and collaterals that are shown."""
_STEPS = 16
"""Ranks whose first event is shown."""


class LineDocument(Document):
    """A line of a log."""

    file: str
    line: Annotated[int, Meta(ge=1)]
    text: str
    rank: int | None


class FaultLineDocument(LineDocument):
    """A line that shows a fault."""

    family: str | None


class StepDocument(LineDocument):
    """The first event of a rank."""

    role: LineRole
    time: float | None
    """Seconds since the start of the year."""


class RemedyDocument(Document):
    """One thing to do about a fault."""

    kind: RemedyKind
    """Where it is applied."""
    text: str
    command: str | None


class ReadDocument(Document):
    """How much was read."""

    files: int
    lines: int


class DiagnosisDocument(Document):
    """What `stackfix diagnose --format json` prints."""

    schema: Literal[1]
    family: str
    """The kind of fault; benign: nothing is wrong; unknown_cause: the logs do not tell. More can be
    added."""
    meaning: str
    confidence: Confidence
    why: str
    """Why this and how sure."""
    cause: tuple[LineDocument, ...]
    """Lines that show the initiating fault; empty if no line is the cause."""
    rank: int | None
    """The initiating rank."""
    ranks: tuple[int, ...]
    """All ranks with the same fault, or those absent from a collective."""
    wrappers: tuple[LineDocument, ...]
    """Lines that repeat the fault or name its category; never the cause."""
    collateral: tuple[LineDocument, ...]
    """Lines that follow from it."""
    others: tuple[FaultLineDocument, ...]
    """Further faults that are not held to have started it."""
    timeline: tuple[StepDocument, ...]
    """The first event of each rank."""
    versions: dict[str, str]
    """Versions read from the logs."""
    differing: tuple[str, ...]
    """Components whose version differs between nodes."""
    cards: tuple[str, ...]
    fix: tuple[RemedyDocument, ...]
    verify: str | None
    """A command that shows whether the fix helped."""
    safety: str
    """What this must not be confused with."""
    unknown: tuple[str, ...]
    """What is not known, and how to find out."""
    notes: tuple[str, ...]
    """About the logs themselves."""
    evidence: tuple[str, ...]
    """Where the knowledge about the cause's line comes from."""
    stack: StackMatch | None
    """How it fits the project's lock and this host; null outside a project."""
    read: ReadDocument


def diagnosis_document(diagnosis: Diagnosis, redactor: Redactor | None = None) -> DiagnosisDocument:
    """The diagnosis as a document; with a redactor without what identifies anybody."""
    text = redactor.text if redactor else str
    name = redactor.name if redactor else str

    def texts(sentences: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(text, sentences))

    def line(event: Event) -> LineDocument:
        return LineDocument.of(event, file=name(event.file), text=text(event.text))

    family, match = diagnosis.family, diagnosis.stack_match
    return DiagnosisDocument.of(
        diagnosis,
        schema=1,
        family=family.name,
        meaning=family.meaning,
        why=text(diagnosis.why),
        cause=tuple(map(line, diagnosis.cause)),
        wrappers=tuple(map(line, diagnosis.wrappers)),
        collateral=tuple(map(line, diagnosis.collateral)),
        others=tuple(
            FaultLineDocument.of(event, file=name(event.file), text=text(event.text))
            for event in diagnosis.others
        ),
        timeline=tuple(
            StepDocument.of(step.event, file=name(step.event.file), text=text(step.event.text))
            for step in diagnosis.timeline
        ),
        differing=texts(diagnosis.differing),
        fix=tuple(
            RemedyDocument.of(
                remedy, text=text(remedy.text), command=remedy.command and text(remedy.command)
            )
            for remedy in diagnosis.remedies
        ),
        verify=diagnosis.verify and text(diagnosis.verify),
        safety=family.safety,
        unknown=texts(diagnosis.unknown),
        notes=texts(diagnosis.notes),
        evidence=tuple(evidence.describe() for evidence in diagnosis.evidence),
        stack=match
        and replace(
            match,
            sentence=text(match.sentence),
            findings=texts(match.findings),
            host=texts(match.host),
        ),
        read=ReadDocument.of(diagnosis),
    )


def diagnosis_text(found: DiagnosisDocument) -> Iterator[RenderableType]:
    """The answer, then what it rests on, then what to do."""
    rank = f", rank {found.rank}" if found.rank is not None else ""
    yield plain(f"{found.family}{rank} ({found.confidence} confidence)", "bold")
    yield plain(found.meaning)
    yield plain("")
    yield from _lines("cause", found.cause)
    yield _item("why", found.why)
    if found.stack is not None:
        yield _item("stack", found.stack.sentence)
        for sentence in found.stack.findings:
            yield _item("", sentence)
        for sentence in found.stack.host:
            yield _item("host", sentence)
    for sentence in found.differing:
        yield _item("nodes", sentence)
    yield from _remedies(found)
    for sentence in found.unknown:
        yield _item("not known", sentence)
    yield from _lines("also", found.others)
    yield from _lines("wrapper", found.wrappers[:_REPEATS])
    yield from _lines("collateral", found.collateral[:_REPEATS])
    yield from _timeline(found.timeline)
    if found.versions or found.cards:
        shown = [f"{name} {version}" for name, version in found.versions.items()]
        yield _item("read", listed([*shown, *found.cards], most=12))
    for note in found.notes:
        yield _item("note", note)
    yield plain("")
    read = found.read
    yield plain(f"{count(read.lines, 'line')} in {count(read.files, 'file')}", "dim")


def _remedies(found: DiagnosisDocument) -> Iterator[RenderableType]:
    for remedy in found.fix:
        yield _item(f"fix ({remedy.kind})", remedy.text)
        if remedy.command:
            yield _item("", f"    {remedy.command}")
    if found.verify:
        yield _item("verify", found.verify)
    if found.fix and found.family != "unknown_cause":
        yield _item("mind", found.safety)


def _timeline(steps: tuple[StepDocument, ...]) -> Iterator[RenderableType]:
    if len(steps) < 2:
        return
    for number, step in enumerate(steps[:_STEPS]):
        who = f"rank {step.rank}" if step.rank is not None else "no rank"
        said = f"{who}: {step.role} at {step.file}:{step.line}"
        yield _item("" if number else "first events", said)


def _lines(name: str, lines: tuple[LineDocument, ...]) -> Iterator[RenderableType]:
    for line in lines:
        rank = f" (rank {line.rank})" if line.rank is not None else ""
        yield _item(name, f"{line.file}:{line.line}{rank}: {line.text.strip()[:_LINE]}")


def _item(name: str, text: str) -> RenderableType:
    table = grid(gap=1)
    table.add_column(width=13, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(plain(name, "bold" if name == "cause" else ""), plain(text))
    return table
