"""All that is known about one release, as a document and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from stackfix.documents.document import Document
from stackfix.documents.target import Capability, TargetDocument
from stackfix.report.text import assemble, grid, heading, indented, plain
from stackfix.report.ties import (
    BugDocument,
    CollisionDocument,
    CouplingDocument,
    SourceDocument,
    bugs_of,
    collisions_of,
    couplings_of,
    ties_text,
)
from stackfix.report.verdicts import (
    SUPPORT_STYLES,
    LibraryDocument,
    PtxasDocument,
    VerdictDocument,
    libraries_of,
    verdicts_of,
)
from stackfix.wording import count, listed
from stackfix_knowledge.wheels.coverage import Support

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from stackfix.model.target import Target
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.wheels.release import Release, WheelFact

__all__ = ["ReleaseDocument", "release_document", "release_text"]

_MEANING = {
    "supported": "native code",
    "jit": "compiled by the driver at first use",
    "partial": "code for a part only",
    "unsupported": "no code",
    "unknown": "not known",
}
_MOST_REQUIREMENTS = 40
_MOST_SETS = 6


class WheelDocument(Document):
    """One wheel of a release; stands for its siblings with other Python tags."""

    file: str
    sha256: str | None
    platform: str
    cuda: str | None
    """CUDA toolkit that it was built with."""
    cpu_only: bool
    requires: tuple[str, ...] | None
    """null: nobody read it."""
    requires_python: str | None
    built_against: dict[str, str]
    """Libraries it was compiled with."""
    architectures: tuple[str, ...] | None
    """null: nobody measured it."""
    runs_on: dict[Support, tuple[Capability, ...]] | None
    """Compute capabilities of all known cards by verdict."""
    needs: tuple[str, ...]
    """Shared libraries that it asks for and does not hold."""
    ptxas: tuple[PtxasDocument, ...]
    evidence: tuple[SourceDocument, ...]


class VendorMatrixDocument(Document):
    """What the vendor documents for a release."""

    documents: str
    """The release that the document is about."""
    capabilities: tuple[Capability, ...]
    evidence: tuple[SourceDocument, ...]


class ReleaseDocument(Document):
    """What `stackfix knowledge show` and `stackfix explain` print of PKG==VERSION with `--format
    json`."""

    schema: Literal[1]
    package: str
    version: str
    role: str | None
    date: str
    yanked: bool
    index: str | None
    """null: the default index; else PyTorch's index of that name."""
    wheels: tuple[WheelDocument, ...]
    platform: str
    """Whose wheel `libraries` and `verdicts` are about."""
    targets: tuple[TargetDocument, ...]
    libraries: tuple[LibraryDocument, ...]
    """Those with GPU code; empty also where nobody measured."""
    verdicts: tuple[VerdictDocument, ...]
    """One for each target."""
    vendor_matrix: VendorMatrixDocument | None
    """null: nobody read it."""
    known_bugs: tuple[BugDocument, ...]
    couplings: tuple[CouplingDocument, ...]
    """What the release needs although its metadata does not say so."""
    collisions: tuple[CollisionDocument, ...]
    """Packages that install files which this one installs too."""
    knowledge: str
    """Version of the facts."""


def release_document(
    release: Release,
    graph: Graph,
    *,
    targets: Sequence[Target] = (),
    platform: str = "linux_x86_64",
) -> ReleaseDocument:
    """The release, its wheels with what they run on, its known bugs and what ties it to others.

    `libraries` and `verdicts` are those of the wheel for `platform`.
    """
    name, version = release.package, release.version
    chosen = release.wheel(platform)
    package = graph.packages.get(name)
    return ReleaseDocument.of(
        release,
        schema=1,
        role=package.role if package else None,
        index=release.home,
        wheels=tuple(_wheel_document(wheel, graph) for wheel in release.wheels),
        platform=platform,
        targets=targets,
        libraries=libraries_of(chosen, targets) if chosen else (),
        verdicts=verdicts_of(chosen, targets) if chosen else (),
        vendor_matrix=_matrix_document(release, graph),
        known_bugs=bugs_of(name, graph, version),
        couplings=couplings_of(name, graph, version),
        collisions=collisions_of(name, graph, version),
        knowledge=graph.version,
    )


def _wheel_document(wheel: WheelFact, graph: Graph) -> WheelDocument:
    coverage = wheel.coverage
    return WheelDocument.of(
        wheel,
        architectures=tuple(map(str, coverage.architectures())) if coverage else None,
        runs_on=_runs_on(wheel, graph),
    )


def _runs_on(wheel: WheelFact, graph: Graph) -> dict[Support, tuple[str, ...]] | None:
    """Every known card's capability by what the wheel's code means for it."""
    if wheel.coverage is None:
        return None
    cards = sorted({gpu.capability for gpu in graph.gpus})
    of = {card: wheel.coverage.support(card) for card in cards}
    found = {support: tuple(str(c) for c in cards if of[c] is support) for support in Support}
    return {support: capabilities for support, capabilities in found.items() if capabilities}


def _matrix_document(release: Release, graph: Graph) -> VendorMatrixDocument | None:
    matrix = graph.matrix(release.package, release.version)
    if matrix is None:
        return None
    return VendorMatrixDocument.of(matrix, capabilities=sorted(matrix.capabilities))


def release_text(document: ReleaseDocument) -> Iterator[RenderableType]:
    """All that is known about a release, each fact with where it comes from."""
    origin = f"index {document.index}" if document.index else "default index"
    yield assemble(
        (f"{document.package} {document.version}", "bold"),
        (f"  {document.date or 'date not known'}, {origin}", "dim"),
        ("  withdrawn by its maintainers" if document.yanked else "", "red"),
    )
    for wheel in document.wheels:
        yield plain(f"\n{wheel.file}", "underline")
        yield indented(_wheel(wheel))
    yield from _libraries(document)
    yield from _matrix(document.vendor_matrix)
    yield from ties_text(document.known_bugs, document.couplings, document.collisions)
    yield plain(f"\nfacts of {document.knowledge}", "dim")


def _libraries(document: ReleaseDocument) -> Iterator[RenderableType]:
    """The libraries of the wheel for the platform, each with its most frequent images."""
    if not document.libraries:
        return
    yield heading(f"GPU code of the wheel for {document.platform}")
    for verdict in document.verdicts:
        state = verdict.state or Support.UNKNOWN
        said = (f"{state} ({_MEANING[state]})", SUPPORT_STYLES[state])
        yield indented(assemble((verdict.target, "bold"), "  ", said))
    for library in document.libraries:
        aside = ", an optional feature" if library.optional else ""
        yield indented(
            assemble(
                (library.name, "bold"),
                f"  {count(library.containers, 'container')}, {library.judged} of them over"
                f" several generations{aside}",
            )
        )
        for verdict in library.verdicts:
            yield indented(_shares(verdict), by=4)
        for images in library.sets[:_MOST_SETS]:
            line = f"{images.count:6} × {' '.join(images.images)}"
            yield indented(plain(line, "dim"), by=4)
        if len(library.sets) > _MOST_SETS:
            rest = count(len(library.sets) - _MOST_SETS, "further set")
            yield indented(plain(f"{rest} of images (--format json)", "dim"), by=4)


def _shares(verdict: VerdictDocument) -> Text:
    judged = verdict.judged
    state = verdict.state or "not judged"
    total = judged.native + judged.jit + judged.none
    counted = f" ({judged.native} native, {judged.jit} JIT of {total} that count)"
    return assemble(
        f"{verdict.target}: ",
        (state, SUPPORT_STYLES[verdict.state] if verdict.state else "dim"),
        f", {verdict.native} native, {verdict.jit} JIT, {verdict.none} none",
        (counted if verdict.state else "", "dim"),
    )


def _matrix(matrix: VendorMatrixDocument | None) -> Iterator[RenderableType]:
    if matrix is None:
        return
    yield heading(f"The vendor's matrix (of {matrix.documents})")
    yield indented(plain(f"lists {', '.join(matrix.capabilities)}"))
    for source in matrix.evidence:
        yield indented(plain(source.line, "dim"))


def _wheel(wheel: WheelDocument) -> Table:
    table = grid()

    def row(name: str, value: str, style: str = "") -> None:
        table.add_row(plain(name, "dim"), plain(value, style))

    row("platform", wheel.platform)
    if wheel.cpu_only:
        row("GPU", "none: a build for the processor alone", "red")
    elif wheel.cuda:
        row("CUDA", wheel.cuda)
    if wheel.runs_on is None:
        row("GPU code", "nobody measured it", "dim")
    else:
        row("GPU code", ", ".join(wheel.architectures or ()) or "none")
        for support, capabilities in wheel.runs_on.items():
            said = f"{', '.join(capabilities)} ({_MEANING[support]})"
            row(support, said, SUPPORT_STYLES[support])
    for name, version in wheel.built_against.items():
        row("built with", f"{name} {version}")
    if wheel.needs:
        row("loads", listed(wheel.needs, _MOST_REQUIREMENTS))
    for ptxas in wheel.ptxas:
        row("ptxas", f"CUDA {ptxas.cuda}: {listed(ptxas.targets, _MOST_REQUIREMENTS)}")
    if wheel.requires_python:
        row("Python", wheel.requires_python)
    needed = list(_needed(wheel.requires or (), wheel.platform))
    if needed:
        row("requires", listed(needed, _MOST_REQUIREMENTS))
    for source in wheel.evidence:
        row("source", source.line, "dim")
    return table


def _needed(requirements: Sequence[str], platform: str) -> Iterator[str]:
    """The requirements that hold on the platform, without markers and extras; JSON has them all."""
    from packaging.requirements import InvalidRequirement, Requirement

    from stackfix_lockfiles.platforms import Platform

    name = "linux_x86_64" if platform == "any" else platform
    markers = Platform.parse(name).markers("3.12.0")
    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            yield text
            continue
        if requirement.marker is None or requirement.marker.evaluate({**markers, "extra": ""}):
            requirement.marker = None
            yield str(requirement)
