"""All that is known about a package, as a document and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from stackfix.documents.document import Document
from stackfix.report.text import assemble, grid, indented, plain
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
from stackfix.wording import count

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from stackfix_knowledge.graph import Graph

__all__ = ["PackageDocument", "package_document", "package_text"]

_KIND_STYLE = {"measured": "green", "metadata": "yellow", "documented": "yellow", "reported": "dim"}


class PackageWheelDocument(Document):
    """A wheel, and how it became known."""

    file: str
    platform: str
    cuda: str | None
    cpu_only: bool
    measured: bool
    """Whether its GPU code is known."""
    evidence: tuple[SourceDocument, ...]

    @classmethod
    def derived(cls, source: Any) -> dict[str, Any]:
        return {"measured": source.coverage is not None}


class PackageReleaseDocument(Document):
    """A release of the package."""

    version: str
    date: str
    yanked: bool
    index: str | None
    """null: the default index; else PyTorch's index of that name."""
    wheels: tuple[PackageWheelDocument, ...]

    @classmethod
    def derived(cls, source: Any) -> dict[str, Any]:
        return {"index": source.home}


class PackageDocument(Document):
    """What `stackfix knowledge show` and `stackfix explain` print of PKG with `--format json`."""

    schema: Literal[1]
    package: str
    role: str | None
    family: str | None
    judged: bool | None
    """Whether its wheels hold GPU code or a GPU compiler; null: no package of the GPU stack."""
    versions: tuple[str, ...]
    releases: tuple[PackageReleaseDocument, ...]
    known_bugs: tuple[BugDocument, ...]
    couplings: tuple[CouplingDocument, ...]
    """What the package needs although its metadata does not say so."""
    collisions: tuple[CollisionDocument, ...]
    """Packages that install files which this one installs too."""
    knowledge: str
    """Version of the facts."""


def package_document(name: str, graph: Graph) -> PackageDocument:
    """The package's releases with what is known of their wheels, its bugs and its ties."""
    package = graph.packages.get(name)
    releases = graph.releases(name)
    return PackageDocument(
        schema=1,
        package=name,
        role=package.role if package else None,
        family=package.family if package else None,
        judged=package.judged if package else None,
        versions=tuple(str(release.version) for release in releases),
        releases=tuple(PackageReleaseDocument.of(release) for release in releases),
        known_bugs=bugs_of(name, graph),
        couplings=couplings_of(name, graph),
        collisions=collisions_of(name, graph),
        knowledge=graph.version,
    )


def package_text(document: PackageDocument) -> Iterator[RenderableType]:
    """The package's releases, each with how its wheels became known, then its ties."""
    what = f"  {document.role} of {document.family}" if document.role else ""
    known = count(len(document.releases), "release")
    yield assemble(
        (f"{document.package}: {known}", "bold"),
        " are known" if len(document.releases) != 1 else " is known",
        (what, "dim"),
    )
    yield indented(_releases(document.releases))
    yield from ties_text(document.known_bugs, document.couplings, document.collisions)
    yield plain(f"\nfacts of {document.knowledge}", "dim")


def _releases(releases: Sequence[PackageReleaseDocument]) -> Table:
    table = grid()
    builds: dict[str, list[str]] = {}
    for release in releases:
        public, plus, local = release.version.partition("+")
        builds.setdefault(public, []).extend([plus + local] if plus else [])
    of_index = {one.version: one for one in releases}
    for public, locals_ in builds.items():
        known = of_index.get(public)
        table.add_row(
            plain(public, "bold"),
            plain(known.date if known else "", "dim"),
            plain(_cuda(known)),
            _wheels(known),
            plain(" ".join(locals_), "dim"),
        )
    return table


def _cuda(release: PackageReleaseDocument | None) -> str:
    wheels = release.wheels if release else ()
    versions = dict.fromkeys(wheel.cuda for wheel in wheels if wheel.cuda)
    return f"CUDA {', '.join(versions)}" if versions else ""


def _wheels(release: PackageReleaseDocument | None) -> Text:
    """Each platform with the strongest evidence there is for its wheel."""
    if release is None:
        return plain("")
    parts: list[str | tuple[str, str]] = [("withdrawn  ", "red")] if release.yanked else []
    for wheel in release.wheels:
        kind = "measured" if wheel.measured else wheel.evidence[0].kind
        if len(parts) > 0 and parts[-1] != ("withdrawn  ", "red"):
            parts.append(", ")
        parts += [f"{wheel.platform} ", (kind, _KIND_STYLE[kind])]
    return assemble(*parts)
