"""What ties a package to others and what is known to be wrong with it: documents and text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import field

from stackfix.documents.document import Document
from stackfix.documents.finding import EvidenceDocument
from stackfix.report.text import Span, heading, indented, plain
from stackfix_knowledge.evidence import FactSeverity

if TYPE_CHECKING:
    from packaging.version import Version
    from rich.console import RenderableType

    from stackfix_knowledge.graph import Graph

__all__ = [
    "BugDocument",
    "CollisionDocument",
    "CouplingDocument",
    "SourceDocument",
    "bugs_of",
    "collisions_of",
    "couplings_of",
    "ties_text",
]


class SourceDocument(EvidenceDocument):
    """One source of one fact."""

    line: str
    """All of it in one line."""

    @classmethod
    def derived(cls, source: Any) -> dict[str, Any]:
        return {"line": source.describe()}


class BugDocument(Document):
    """A known bug."""

    id: str
    severity: FactSeverity
    summary: str
    effect: str
    workaround: str | None
    fixed: tuple[str, ...]
    """Versions without it."""
    evidence: tuple[SourceDocument, ...]

    @classmethod
    def derived(cls, source: Any) -> dict[str, Any]:
        return {
            "workaround": source.workaround.text if source.workaround else None,
            "fixed": [one.fixed for one in source.ranges if one.fixed],
        }


class CouplingDocument(Document):
    """What the package needs although its metadata does not say so."""

    of_versions: str = field(name="of")
    """Versions of the package; empty: all."""
    needs: str
    versions: str | None
    """Of what it needs; null: the relation says which."""
    relation: str
    why: str
    evidence: tuple[SourceDocument, ...]

    @classmethod
    def derived(cls, source: Any) -> dict[str, Any]:
        return {"of_versions": str(source.versions), "versions": source.specifiers}


class CollisionDocument(Document):
    """A package that installs a file which this one installs too."""

    other: str = field(name="with")
    versions: str
    path: str
    evidence: tuple[SourceDocument, ...]

    @classmethod
    def derived(cls, source: Any) -> dict[str, Any]:
        return {"versions": str(source.other_versions)}


def bugs_of(name: str, graph: Graph, version: Version | None = None) -> tuple[BugDocument, ...]:
    """The known bugs of a package, or of one version alone."""
    return tuple(
        BugDocument.of(bug)
        for bug in graph.advisories(name)
        if version is None or bug.affects(version)
    )


def couplings_of(
    name: str, graph: Graph, version: Version | None = None
) -> tuple[CouplingDocument, ...]:
    """What the package, or one version, needs although its metadata does not say so."""
    return tuple(
        CouplingDocument.of(one)
        for one in graph.couplings(name)
        if one.package == name and (version is None or one.concerns(version))
    )


def collisions_of(
    name: str, graph: Graph, version: Version | None = None
) -> tuple[CollisionDocument, ...]:
    """The packages that install files which this one installs too."""
    return tuple(
        CollisionDocument.of(one)
        for one in graph.collisions(name)
        if version is None or one.versions.contains(version, prereleases=True)
    )


def ties_text(
    bugs: Iterable[BugDocument],
    couplings: Iterable[CouplingDocument],
    collisions: Iterable[CollisionDocument],
) -> Iterator[RenderableType]:
    """A section for each kind of tie that there is."""
    yield from _section("Known bugs", map(_bug, bugs))
    yield from _section("Goes together with", map(_coupling, couplings))
    yield from _section("Overwrites files of", map(_collision, collisions))


def _bug(bug: BugDocument) -> list[Span]:
    fixed = f" (fixed in {', '.join(bug.fixed)})" if bug.fixed else ""
    lines = [
        (f"{bug.id}  {bug.summary}{fixed}", "yellow" if bug.severity != "info" else ""),
        (f"  {bug.effect}", ""),
    ]
    if bug.workaround:
        lines.append((f"  instead: {bug.workaround}", "green"))
    return lines + _sources(bug.evidence)


def _coupling(coupling: CouplingDocument) -> list[Span]:
    versions = coupling.versions or coupling.relation.replace("-", " ")
    of = f"{coupling.of_versions} with " if coupling.of_versions else ""
    said = f"{of}{coupling.needs} {versions}: {coupling.why}"
    return [(said, ""), *_sources(coupling.evidence)]


def _collision(collision: CollisionDocument) -> list[Span]:
    said = f"{collision.other} {collision.versions}".rstrip() + f": {collision.path}"
    return [(said, ""), *_sources(collision.evidence)]


def _sources(evidence: Sequence[SourceDocument]) -> list[Span]:
    return [(f"  {source.line}", "dim") for source in evidence]


def _section(title: str, items: Iterable[list[Span]]) -> Iterator[RenderableType]:
    for number, lines in enumerate(items):
        if not number:
            yield heading(title)
        for text, style in lines:
            deeper = len(text) - len(text.lstrip())
            yield indented(plain(text.strip(), style), by=2 + deeper)
