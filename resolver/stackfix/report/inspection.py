"""What was inspected, as a document and as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from stackfix.audit.binaries import Verdict, library_verdict, package_verdict
from stackfix.documents.document import Count, Document
from stackfix.documents.finding import FindingDocument
from stackfix.documents.target import TargetDocument
from stackfix.report.findings import findings_table, hits_of_findings
from stackfix.report.text import assemble, grid, heading, indented, plain
from stackfix.report.verdicts import (
    GENERATIONS,
    LETTERS,
    SUPPORT_STYLES,
    LibraryDocument,
    PtxasDocument,
    VerdictDocument,
    libraries_of,
    verdicts_of,
)
from stackfix.wording import count, listed

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from stackfix.model.finding import Finding
    from stackfix.model.target import Target
    from stackfix_index.errors import Unreadable
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.inspect.package import Inspected
    from stackfix_knowledge.wheels.coverage import LibraryCoverage, Share

__all__ = ["InspectionDocument", "inspection_document", "inspection_text"]

_NAME_WIDTH = 37
_PYTHON_TAG = re.compile(r"\.(cpython-\d+[a-z]*-[\w-]+|abi3)(?=\.so$)")
"""The part of a module's file name that only Python reads."""
_MOST_CARDS = 4
"""With more targets than this the columns hold letters and percentages, not words."""


class InspectedPackageDocument(Document):
    """A package, or the binaries in a folder that belong to none."""

    package: str | None
    """Normalised name; null: files of no package."""
    version: str | None
    file: str
    """Name of the wheel, as far as it is known."""
    place: str
    """The wheel, or the folder that the package lies in."""
    platform: str
    cuda: str | None
    """CUDA toolkit that it was built with."""
    cpu_only: bool
    """A build for the processor alone of a package that has GPU builds."""
    built_against: dict[str, str]
    needs: tuple[str, ...]
    """Shared libraries that it asks for and does not hold."""
    ptxas: tuple[PtxasDocument, ...]
    architectures: tuple[str, ...]
    verdicts: tuple[VerdictDocument, ...]


class InspectedLibraryDocument(LibraryDocument):
    """A library, and where it belongs."""

    package: str | None
    place: str


class UnreadDocument(Document):
    """A file that could not be read."""

    file: str
    place: str | None
    expected: str


class InspectionDocument(Document):
    """What `stackfix inspect --format json` prints."""

    schema: Literal[1]
    targets: tuple[TargetDocument, ...]
    packages: tuple[InspectedPackageDocument, ...]
    """Those with GPU code or a PTX assembler, and builds for the processor alone."""
    libraries: tuple[InspectedLibraryDocument, ...]
    """Those with GPU code."""
    without_gpu_code: Count
    """How many further packages hold libraries."""
    findings: tuple[FindingDocument, ...]
    faults: tuple[UnreadDocument, ...]
    """Files that could not be read; the others were."""
    knowledge: str
    """Version of the facts."""


def inspection_document(
    packages: Sequence[Inspected],
    faults: Sequence[Unreadable],
    targets: Sequence[Target],
    findings: Sequence[Finding],
    graph: Graph,
) -> InspectionDocument:
    """The packages with their verdicts, all their libraries, and what could not be read.

    Packages that hold neither GPU code nor a PTX assembler are counted only, unless they are a
    build for the processor alone of one that should.
    """
    shown = [one for one in packages if _matters(one)]
    return InspectionDocument(
        schema=1,
        targets=tuple(TargetDocument.of(target) for target in targets),
        packages=tuple(_package_document(one, targets) for one in shown),
        libraries=tuple(
            InspectedLibraryDocument.of(library, package=one.package, place=str(one.place))
            for one in shown
            for library in libraries_of(one.wheel, targets)
        ),
        without_gpu_code=len(packages) - len(shown),
        findings=tuple(FindingDocument.of(finding) for finding in findings),
        faults=tuple(UnreadDocument.of(fault, file=fault.source) for fault in faults),
        knowledge=graph.version,
    )


def _matters(inspected: Inspected) -> bool:
    wheel = inspected.wheel
    has_code = wheel.coverage is not None and wheel.coverage.has_device_code
    return has_code or bool(wheel.ptxas) or wheel.cpu_only


def _package_document(inspected: Inspected, targets: Sequence[Target]) -> InspectedPackageDocument:
    coverage = inspected.wheel.coverage
    return InspectedPackageDocument.of(
        inspected.wheel,
        package=inspected.package,
        version=str(inspected.version) if inspected.version else None,
        place=str(inspected.place),
        architectures=tuple(map(str, coverage.architectures())) if coverage else (),
        verdicts=verdicts_of(inspected.wheel, targets),
    )


def inspection_text(
    packages: Sequence[Inspected], targets: Sequence[Target], findings: Sequence[Finding]
) -> Iterator[RenderableType]:
    """The libraries by package, with what each card can do with their code."""
    shown = [one for one in packages if one.wheel.coverage and one.wheel.coverage.libraries]
    if shown:
        yield _table(shown, targets)
        yield _legend(targets)
    else:
        yield plain("no GPU code")
    for one in packages:
        for ptxas in one.wheel.ptxas:
            line = f"ptxas of CUDA {ptxas.cuda}: {listed(ptxas.targets, 30)}"
            yield assemble((_title(one), "bold"), f"  {line}")
    rest = sum(not one.wheel.ptxas for one in packages if one not in shown)
    if rest and shown:
        yield plain(f"{count(rest, 'package')} with libraries and without GPU code", "dim")
    if targets:
        yield from _judgement(findings, targets)


def _table(packages: Sequence[Inspected], targets: Sequence[Target]) -> Table:
    cards = [target.capability for target in targets] or list(GENERATIONS)
    heads = [target.short for target in targets] or [str(card) for card in GENERATIONS]
    words = 0 < len(targets) <= _MOST_CARDS
    table = grid(gap=2 if words else 1)
    table.add_column(no_wrap=True)
    for _ in heads:
        table.add_column(justify="left" if words else "right", no_wrap=True)
    table.add_row("", *(plain(head, "bold") for head in heads))
    for one in packages:
        verdicts = [package_verdict(one.wheel, card) for card in cards]
        table.add_row(plain(_title(one), "bold"), *(_state(verdict, words) for verdict in verdicts))
        toolkit = one.wheel.coverage.toolkit if one.wheel.coverage else None
        for library in one.wheel.coverage.libraries if one.wheel.coverage else ():
            cells = [library_verdict(library, card, toolkit) for card in cards]
            table.add_row(
                _library(library, counts=cells[0].state is not None),
                *(_worded(cell) if words else _percent(cell) for cell in cells),
            )
    return table


def _legend(targets: Sequence[Target]) -> Text:
    aside = "· does not count for the verdict: code for some cards or one feature alone"
    if 0 < len(targets) <= _MOST_CARDS:
        return plain(f"containers of GPU code by what the card runs; {aside}", "dim")
    return plain(
        "percent of containers that the card runs, j: compiled by the driver (JIT), m: some so\n"
        f"{aside}\nS supported, J by JIT alone, P a part only, – none, ? not known",
        "dim",
    )


def _judgement(findings: Sequence[Finding], targets: Sequence[Target]) -> Iterator[RenderableType]:
    # All of it was measured in the very files that were named.
    unsourced = [replace(finding, evidence=()) for finding in findings]
    table = findings_table(hits_of_findings(unsourced, targets))
    if table is not None:
        yield heading("Found")
        yield indented(table)
    elif not any(finding.severity == "info" for finding in findings):
        yield plain("\n✓ code for every target", "bold green")
    for message in dict.fromkeys(f.message for f in findings if f.severity == "info"):
        yield plain(f"· {message}", "dim")


def _title(inspected: Inspected) -> str:
    if inspected.package is None:
        return inspected.wheel.file or str(inspected.place)
    return f"{inspected.package} {inspected.version}"


def _library(library: LibraryCoverage, *, counts: bool) -> Text:
    name = _PYTHON_TAG.sub("", library.name)
    shown = name if len(name) <= _NAME_WIDTH else f"…{name[1 - _NAME_WIDTH :]}"
    return plain(f"{'  ' if counts else '· '}{shown}", "" if counts else "dim")


def _state(verdict: Verdict, words: bool) -> Text:
    state = verdict.state.value if verdict.state else "unknown"
    return plain(state if words else LETTERS[state], SUPPORT_STYLES[state])


def _worded(verdict: Verdict) -> Text:
    share = _counted(verdict)
    parts = [
        f"{number} {name}"
        for number, name in ((share.native, "native"), (share.jit, "JIT"), (share.none, "none"))
        if number
    ]
    return plain(", ".join(parts), _style(verdict))


def _percent(verdict: Verdict) -> Text:
    share = _counted(verdict)
    runs = share.native + share.jit
    if not runs:
        return plain("–", _style(verdict))
    percent = round(100 * runs / share.total)
    shown = 100 if runs == share.total else min(max(percent, 1), 99)
    how = "" if not share.jit else "m" if share.native else "j"
    return plain(f"{shown}{how}", _style(verdict))


def _counted(verdict: Verdict) -> Share:
    return verdict.judged if verdict.state else verdict.every


def _style(verdict: Verdict) -> str:
    return SUPPORT_STYLES[verdict.state.value] if verdict.state else "dim"
