"""What the upkeep of the facts finds, as documents and as lines: lint, outdated and verify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from stackfix.documents.document import Count, Document
from stackfix.wording import count, listed, one_line
from stackfix_knowledge.lint.remark import RemarkKind

if TYPE_CHECKING:
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.lint.remark import Remark
    from stackfix_knowledge.measure.comparing import Outdated

__all__ = [
    "LintDocument",
    "OutdatedDocument",
    "VerificationDocument",
    "VerifiedDocument",
    "lint_document",
    "lint_lines",
    "outdated_document",
    "outdated_lines",
    "verification_lines",
]

_MOST_VERSIONS = 8
_TITLES = {
    RemarkKind.FAULT: "Wrong",
    RemarkKind.BORDERLINE: "Shares near a threshold: see whether the verdict is right",
    RemarkKind.DECIDED: "Shares near a threshold that somebody looked at",
    RemarkKind.DISPUTED: "Documents and measurements disagree",
}


class RemarkDocument(Document):
    """One line about one place of the facts."""

    kind: RemarkKind
    file: str
    """The facts file, relative to the folder of the facts; a project's own by its path."""
    place: str
    """Where in it; empty for the whole of it."""
    text: str


class LintDocument(Document):
    """What `stackfix knowledge lint --format json` prints."""

    schema: Literal[1]
    problems: tuple[RemarkDocument, ...]


def lint_document(remarks: Sequence[Remark]) -> LintDocument:
    """The remarks as a document."""
    return LintDocument(schema=1, problems=tuple(RemarkDocument.of(remark) for remark in remarks))


def lint_lines(remarks: Sequence[Remark]) -> Iterator[str]:
    """The remarks by kind, what is wrong first."""
    for kind, title in _TITLES.items():
        lines = [str(remark) for remark in remarks if remark.kind is kind]
        if lines:
            yield f"{title}:"
            yield from (f"  {one_line(line)}" for line in lines)
    if not any(remark.kind is RemarkKind.FAULT for remark in remarks):
        open_ones = [remark for remark in remarks if remark.kind is not RemarkKind.DECIDED]
        rest = f", {count(len(open_ones), 'place')} to look at" if open_ones else ""
        yield f"✓ nothing wrong{rest}"


class NewReleaseDocument(Document):
    """A release that the facts do not know."""

    version: str
    date: str


class OutdatedPackageDocument(Document):
    """A package, and the releases of it that nobody measured."""

    package: str
    newest_known: str | None
    """The newest release that the facts know as well as they should; null: none."""
    newer: tuple[NewReleaseDocument, ...]
    """On the index above it, ascending."""
    older: tuple[NewReleaseDocument, ...]
    """On the index below it and unknown; only with --all."""


class OutdatedDocument(Document):
    """What `stackfix knowledge outdated --format json` prints."""

    schema: Literal[1]
    packages: tuple[OutdatedPackageDocument, ...]
    """Those with something new alone."""
    knowledge: str
    """Version of the facts."""


def outdated_document(
    found: Sequence[Outdated], graph: Graph, *, older_too: bool
) -> OutdatedDocument:
    """The packages with something new; releases older than what is known only if asked for."""
    return OutdatedDocument(
        schema=1,
        packages=tuple(
            OutdatedPackageDocument.of(
                one, newest_known=one.newest, older=one.older if older_too else ()
            )
            for one in found
            if one.newer or (older_too and one.older)
        ),
        knowledge=graph.version,
    )


def outdated_lines(document: OutdatedDocument, asked: int) -> Iterator[str]:
    """A line a package; `asked` is how many were looked up."""
    if not document.packages:
        yield f"✓ the facts know the newest release of {count(asked, 'package')}"
        return
    width = max(len(one.package) for one in document.packages)
    for one in document.packages:
        parts = [f"knows {one.newest_known or 'nothing'}"]
        for name, releases in (("newer", one.newer), ("older", one.older)):
            if releases:
                versions = [release.version for release in releases][::-1]
                parts.append(f"{name}: {listed(versions, _MOST_VERSIONS)}")
        yield f"{one_line(one.package):{width}}  {one_line(', '.join(parts))}"
    yield "measure them: stackfix knowledge measure PKG==VERSION"


class VerifiedDocument(Document):
    """A release that was measured again."""

    package: str
    version: str
    differences: tuple[str, ...]
    failures: Count
    """Wheels that could not be read."""

    @property
    def holds(self) -> bool:
        """Whether the facts agree with the index."""
        return not self.differences and not self.failures


class VerificationDocument(Document):
    """What `stackfix knowledge verify --format json` prints."""

    schema: Literal[1]
    releases: tuple[VerifiedDocument, ...]


def verification_lines(document: VerificationDocument) -> Iterator[str]:
    """What differs, and which releases hold."""
    for release in document.releases:
        yield from (one_line(f"✗ {line}") for line in release.differences)
        if release.holds:
            yield f"✓ {release.package} {release.version}: the facts hold"
