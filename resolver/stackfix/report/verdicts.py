"""What GPU code means for cards, as documents and signs: of inspected and of known wheels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from stackfix.audit.binaries import Verdict, library_verdict, package_verdict
from stackfix.documents.document import Count, Document
from stackfix.documents.target import Capability
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.wheels.coverage import Support

if TYPE_CHECKING:
    from packaging.version import Version

    from stackfix.model.target import Target
    from stackfix_knowledge.wheels.coverage import LibraryCoverage
    from stackfix_knowledge.wheels.release import WheelFact

__all__ = [
    "GENERATIONS",
    "LETTERS",
    "SUPPORT_STYLES",
    "LibraryDocument",
    "PtxasDocument",
    "VerdictDocument",
    "libraries_of",
    "library_document",
    "verdicts_of",
]

GENERATIONS = tuple(
    map(
        ComputeCapability.parse,
        ("6.1", "7.0", "7.5", "8.0", "8.6", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"),
    )
)
"""One card of each generation that people still run, from Pascal to Blackwell: what tables show
where nobody named a card."""

LETTERS = {"supported": "S", "jit": "J", "partial": "P", "unsupported": "–", "unknown": "?"}
"""A verdict in one character."""

SUPPORT_STYLES = {
    "supported": "green",
    "jit": "yellow",
    "partial": "red",
    "unsupported": "red",
    "unknown": "dim",
}


class ShareDocument(Document):
    """Containers by what a card can do with them."""

    native: Count
    """Containers with machine code for the card."""
    jit: Count
    """Without machine code, with PTX that the driver can compile for it."""
    none: Count
    """With nothing that the card runs."""


class PtxasDocument(Document):
    """A PTX assembler that a wheel brings along."""

    cuda: str
    """The toolkit it comes from."""
    targets: tuple[str, ...]
    """Architectures that it names; empty: nobody read them."""


class VerdictDocument(Document):
    """What a library or a package can do on one card.

    `native`, `jit` and `none` count all containers of a library; of a package, those of all its
    libraries.
    """

    target: str
    """Label of one of the targets."""
    capability: Capability
    state: Support | None
    """null: not judged, since the library serves some cards or one feature alone."""
    native: Count
    """Containers with machine code for the card."""
    jit: Count
    """Without machine code, with PTX that the driver can compile for it."""
    none: Count
    """With nothing that the card runs."""
    judged: ShareDocument
    """The containers that the state rests on: those that reach over the generations of cards."""


class ImagesDocument(Document):
    """Containers that hold the very same images."""

    count: Count
    images: tuple[Annotated[str, Meta(pattern=r"^(sm|compute)_[0-9]{2,3}[af]?$")], ...]


class LibraryDocument(Document):
    """One library with GPU code."""

    name: str
    """Path in the wheel; for files of no package, in the folder that was inspected."""
    containers: Count
    """All containers (fatbins) with GPU code."""
    judged: Count
    """How many of them reach over the generations of cards."""
    optional: bool
    """It serves a feature that frameworks do without, and is not judged."""
    sets: tuple[ImagesDocument, ...]
    """Containers by the very images they hold, the most frequent first."""
    verdicts: tuple[VerdictDocument, ...]
    """One for each target."""


def libraries_of(wheel: WheelFact, targets: Sequence[Target]) -> tuple[LibraryDocument, ...]:
    """The libraries of a wheel that hold GPU code, by name; empty where nobody measured."""
    if wheel.coverage is None:
        return ()
    toolkit = wheel.coverage.toolkit
    return tuple(library_document(one, targets, toolkit) for one in wheel.coverage.libraries)


def library_document(
    library: LibraryCoverage, targets: Sequence[Target], toolkit: Version | None
) -> LibraryDocument:
    """One library; `toolkit` is the CUDA that built it."""
    sets = sorted(library.containers.items(), key=lambda item: (-item[1], sorted(item[0])))
    return LibraryDocument(
        name=library.name,
        containers=sum(library.containers.values()),
        judged=sum(library.broad.values()),
        optional=library.is_optional,
        sets=tuple(
            ImagesDocument(count=count, images=tuple(map(str, sorted(images))))
            for images, count in sets
        ),
        verdicts=tuple(
            _verdict(target, library_verdict(library, target.capability, toolkit))
            for target in targets
        ),
    )


def verdicts_of(wheel: WheelFact, targets: Sequence[Target]) -> tuple[VerdictDocument, ...]:
    """The verdicts on all of a wheel, one for each target."""
    return tuple(_verdict(target, package_verdict(wheel, target.capability)) for target in targets)


def _verdict(target: Target, verdict: Verdict) -> VerdictDocument:
    return VerdictDocument(
        target=target.label,
        capability=str(target.capability),
        state=verdict.state,
        native=verdict.every.native,
        jit=verdict.every.jit,
        none=verdict.every.none,
        judged=ShareDocument.of(verdict.judged),
    )
