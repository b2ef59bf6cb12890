"""A package's releases by the cards they suit, as a document and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from stackfix.audit.binaries import package_verdict
from stackfix.documents.document import Document
from stackfix.documents.target import Capability
from stackfix.report.text import assemble, grid, plain
from stackfix.report.verdicts import LETTERS, SUPPORT_STYLES
from stackfix_knowledge.evidence import EvidenceKind
from stackfix_knowledge.wheels.coverage import Support

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.hardware import ComputeCapability
    from stackfix_knowledge.wheels.release import Release

__all__ = ["MatrixDocument", "matrix_document", "matrix_text"]


class MatrixReleaseDocument(Document):
    """What one release can do on each card."""

    version: str
    date: str
    yanked: bool
    index: str | None
    """null: the default index; else PyTorch's index of that name."""
    cuda: str | None
    cpu_only: bool
    evidence: tuple[EvidenceKind, ...]
    states: dict[Capability, Support]
    disputed: tuple[Capability, ...]
    """Where the vendor's matrix says otherwise."""


class MatrixDocument(Document):
    """What `stackfix knowledge matrix --format json PKG` prints."""

    schema: Literal[1]
    package: str
    platform: str
    judged: bool
    """false: its wheels hold no GPU code."""
    capabilities: tuple[Capability, ...]
    releases: tuple[MatrixReleaseDocument, ...]
    knowledge: str
    """Version of the facts."""


def matrix_document(
    name: str,
    graph: Graph,
    cards: Sequence[ComputeCapability],
    *,
    platform: str,
    builds: bool = False,
) -> MatrixDocument:
    """A row for each release that has a wheel for the platform, versions ascending.

    Without `builds`, those of PyTorch's own indexes are left out. `disputed` names the cards
    where the vendor's matrix says otherwise.
    """
    package = graph.packages.get(name)
    return MatrixDocument(
        schema=1,
        package=name,
        platform=platform,
        judged=package.judged if package else True,
        capabilities=tuple(map(str, cards)),
        releases=tuple(
            _row(release, graph, cards, platform)
            for release in graph.releases(name)
            if (builds or release.version.local is None) and release.wheel(platform)
        ),
        knowledge=graph.version,
    )


def _row(
    release: Release, graph: Graph, cards: Sequence[ComputeCapability], platform: str
) -> MatrixReleaseDocument:
    wheel = release.wheel(platform)
    assert wheel is not None
    states = {card: package_verdict(wheel, card).state or Support.UNKNOWN for card in cards}
    matrix = graph.matrix(release.package, release.version)
    return MatrixReleaseDocument.of(
        release,
        index=release.home,
        cuda=str(wheel.cuda) if wheel.cuda else None,
        cpu_only=wheel.cpu_only,
        evidence=tuple(sorted({evidence.kind for evidence in wheel.evidence})),
        states={str(card): state for card, state in states.items()},
        disputed=tuple(
            str(card)
            for card, state in states.items()
            if matrix is not None
            and state is not Support.UNKNOWN
            and matrix.lists(card) != (state in (Support.SUPPORTED, Support.JIT))
        ),
    )


def matrix_text(document: MatrixDocument) -> Iterator[RenderableType]:
    """One line for each release, one column for each card."""
    yield assemble((document.package, "bold"), (f"  {document.platform}", "dim"))
    if not document.judged:
        yield plain("its wheels hold no GPU code: nothing in them depends on the card", "dim")
        return
    yield _table(document)
    yield plain("S supported, J by JIT alone, P a part only, – none, ? nobody measured it", "dim")
    if any(row.disputed for row in document.releases):
        yield plain("* the vendor's matrix says otherwise", "dim")
    yield plain(f"facts of {document.knowledge}", "dim")


def _table(document: MatrixDocument) -> Table:
    table = grid(gap=1)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    for _ in document.capabilities:
        table.add_column(justify="right", no_wrap=True)
    table.add_row("", "", *(plain(card, "bold") for card in document.capabilities))
    for row in document.releases:
        cells = []
        for card in document.capabilities:
            state = row.states[card]
            mark = "*" if card in row.disputed else ""
            cells.append(plain(f"{LETTERS[state]}{mark}", SUPPORT_STYLES[state]))
        table.add_row(plain(row.version, "bold"), plain(_remark(row), "dim"), *cells)
    return table


def _remark(row: MatrixReleaseDocument) -> str:
    if row.cpu_only:
        return "CPU only"
    cuda = f"CUDA {row.cuda}" if row.cuda else ""
    return f"{cuda} withdrawn".strip() if row.yanked else cuda
