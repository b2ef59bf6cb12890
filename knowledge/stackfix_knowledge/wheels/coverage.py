"""How much of a library's GPU code a card can run, and what to call that.

A library's code lies in *containers* (fatbins), each with one image per architecture. A card is
not served by a list of architectures but by a share of containers: an image for it in a few of
hundreds supports nothing, and its absence from containers that were built for other cards alone
hurts nothing. So a library is judged on its *broad* containers: those with images of at least half
as many majors as its widest container has, and of two at least. (cuBLASLt 12.8.4.1 has 864
containers for 9.0 and 12.0 alone beside some two hundred that reach over the generations; only the
latter tell that it serves a V100.) PTX older than the machine code beside it makes no container
broad: compilers leave such an image behind by default. Nor does code for one card or family alone,
such as 9.0a: FlashAttention-3 (8.0 and 9.0a) and FlashMLA (9.0a and 10.0a) are features of those
cards, and vllm runs on the others without them. Libraries of optional features, which frameworks
do without (`facts/features.toml`), are not judged either. All thresholds are here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from packaging.version import Version

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.hardware import Architecture, CodeKind, ComputeCapability
from stackfix_knowledge.reader import Entry, read_facts

__all__ = [
    "BROAD_MAJORS",
    "BROAD_SHARE",
    "CLOSE",
    "LEAST_SHARE",
    "WHOLE_SHARE",
    "Coverage",
    "Feature",
    "LibraryCoverage",
    "Share",
    "Support",
    "feature_of",
    "parse_features",
]

BROAD_MAJORS = 2
"""A container with images for fewer majors is never broad."""

BROAD_SHARE = 0.5
"""A broad container has at least this share of the majors of the library's widest container."""

LEAST_SHARE = 0.1
"""A card that runs less than this share of the broad containers has no support."""

COMPILER_DEFAULTS = frozenset(map(Architecture.parse, ["sm_52", "sm_75"]))
"""What nvcc 11 to 13 compiles for when nobody tells it. A library with nothing else keeps its
kernels elsewhere (cuFFT does), so its containers say nothing about what it runs on."""

CLOSE = 0.05
"""A share this near a threshold is checked by hand."""

WHOLE_SHARE = 0.9
"""Without machine code, PTX in at least this share of the broad containers means "by JIT"."""


class Support(StrEnum):
    """What a package can do on a card."""

    SUPPORTED = "supported"
    """It has machine code for the card, or no GPU code at all."""
    JIT = "jit"
    """Only PTX, which the driver compiles at first use."""
    PARTIAL = "partial"
    """Some of it has code for the card, some has none: it fails in the middle of work."""
    UNSUPPORTED = "unsupported"
    """No code for the card."""
    UNKNOWN = "unknown"
    """Nobody measured it."""


class Share(NamedTuple):
    """Containers of a library by what a card can do with them."""

    native: int
    """With machine code for the card."""
    jit: int
    """Without machine code, but with PTX that can be compiled for the card."""
    none: int
    """With nothing that the card can run."""

    @property
    def total(self) -> int:
        """All containers that were counted."""
        return self.native + self.jit + self.none

    @property
    def covered(self) -> float:
        """Share of containers that the card can run, 0 to 1; 0 where there are none."""
        return (self.native + self.jit) / self.total if self.total else 0.0

    @property
    def is_close(self) -> bool:
        """Whether it lies near a threshold, where a person should look at the verdict."""
        whole = self.native == 0 and abs(self.covered - WHOLE_SHARE) < CLOSE
        return self.total > 0 and (whole or abs(self.covered - LEAST_SHARE) < CLOSE)

    @property
    def support(self) -> Support:
        """The verdict on these containers."""
        if self.total == 0:
            return Support.SUPPORTED
        if self.covered < LEAST_SHARE:
            return Support.UNSUPPORTED
        if self.native:
            return Support.SUPPORTED
        return Support.JIT if self.covered >= WHOLE_SHARE else Support.PARTIAL


class LibraryCoverage(NamedTuple):
    """The GPU code of one shared library."""

    name: str
    """File name in the wheel, such as ``torch/lib/libtorch_cuda.so``."""
    containers: Mapping[frozenset[Architecture], int]
    """How many containers hold exactly that set of architectures."""

    @property
    def has_device_code(self) -> bool:
        """Whether it holds any GPU code."""
        return any(self.containers.values())

    @property
    def broad(self) -> Mapping[frozenset[Architecture], int]:
        """The containers that it is judged on."""
        majors = {images: _majors(images) for images in self.containers}
        least = max(BROAD_MAJORS, BROAD_SHARE * max(majors.values(), default=0))
        with_ptx = self._with_ptx
        return {
            images: count
            for images, count in self.containers.items()
            if majors[images] >= least and not (count == 1 and images in with_ptx)
        }

    @property
    def _with_ptx(self) -> frozenset[frozenset[Architecture]]:
        """Machine code of the containers that hold PTX too.

        A library of separately compiled code has one container more, which the linker made: with
        that same machine code, and without PTX, for which the driver takes that of the others. It
        says nothing, and among a handful of containers it would tip the scales.
        """
        return frozenset(
            frozenset(image for image in images if image.kind is CodeKind.SASS)
            for images in self.containers
            if any(image.kind is CodeKind.PTX for image in images)
        )

    @property
    def is_opaque(self) -> bool:
        """Whether its GPU code is in no form that can be read here; see `COMPILER_DEFAULTS`."""
        return self.has_device_code and all(
            images <= COMPILER_DEFAULTS for images, count in self.containers.items() if count
        )

    @property
    def is_optional(self) -> bool:
        """Whether it serves a feature that frameworks do without."""
        return feature_of(self.name) is not None

    def share(self, card: ComputeCapability, *, toolkit: Version | None = None) -> Share:
        """Count the broad containers by what the card can do with them."""
        return _share(self.broad, card, toolkit)

    def share_of_all(self, card: ComputeCapability, *, toolkit: Version | None = None) -> Share:
        """Count all containers, those for some cards alone among them."""
        return _share(self.containers, card, toolkit)

    def support(self, card: ComputeCapability, *, toolkit: Version | None = None) -> Support | None:
        """The verdict on this library; None: it is not judged.

        That is so without any broad container, and for the library of an optional feature.
        """
        share = self.share(card, toolkit=toolkit)
        return share.support if share.total and not self.is_optional else None


class Coverage:
    """The GPU code of a package."""

    __slots__ = ("_verdicts", "libraries", "toolkit")

    def __init__(
        self, libraries: tuple[LibraryCoverage, ...], toolkit: Version | None = None
    ) -> None:
        self.libraries = libraries
        """Its libraries that hold GPU code; those without may be left out."""
        self.toolkit = toolkit
        """The CUDA toolkit that built it, where known."""
        self._verdicts: dict[ComputeCapability, Support] = {}
        """Verdicts given so far: a solve asks thousands of times about a few cards."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Coverage):
            return NotImplemented
        return (self.libraries, self.toolkit) == (other.libraries, other.toolkit)

    __hash__ = None  # type: ignore[assignment]  # containers are mappings

    def __repr__(self) -> str:
        return f"Coverage({self.libraries!r}, {self.toolkit!r})"

    @property
    def has_device_code(self) -> bool:
        """Whether the package holds any GPU code."""
        return any(library.has_device_code for library in self.libraries)

    def support(self, card: ComputeCapability) -> Support:
        """The verdict on the package: that of its worst library.

        The package is unsupported where its main library is: the one with the most broad
        containers (all such, among equals). A package without GPU code has nothing to judge
        and is supported. One that holds narrow containers only (built for a single major) is
        judged on those: where none of them runs, nothing does. One whose code cannot be read is
        unknown.
        """
        known = self._verdicts.get(card)
        if known is None:
            known = self._verdicts[card] = self._verdict(card)
        return known

    def _verdict(self, card: ComputeCapability) -> Support:
        judged = self._judged(card)
        if not judged:
            return self._narrow(card)
        verdicts = {verdict for _, verdict in judged}
        sizes = [sum(library.broad.values()) for library, _ in judged]
        main = {judged[i][1] for i, size in enumerate(sizes) if size == max(sizes)}
        if main == {Support.UNSUPPORTED}:
            return Support.UNSUPPORTED
        if verdicts & {Support.UNSUPPORTED, Support.PARTIAL}:
            return Support.PARTIAL
        return Support.JIT if Support.JIT in verdicts else Support.SUPPORTED

    def architectures(self) -> tuple[Architecture, ...]:
        """Every architecture that some container holds, sorted."""
        return tuple(
            sorted(
                {image for lib in self.libraries for images in lib.containers for image in images}
            )
        )

    def built_for(self) -> tuple[Architecture, ...]:
        """The architectures that it is built for as a whole, sorted.

        Those of the main library, in a tenth of its broad containers or more: a stray image of an
        old architecture runs nothing. All that there are, where no container is broad.
        """
        broad = [library.broad for library in self.libraries if not library.is_optional]
        main = max(broad, key=lambda containers: sum(containers.values()), default={})
        least = LEAST_SHARE * sum(main.values())
        found: Counter[Architecture] = Counter()
        for images, count in main.items():
            found.update(dict.fromkeys(images, count))
        return tuple(sorted(a for a, n in found.items() if n >= least)) or self.architectures()

    def _judged(self, card: ComputeCapability) -> list[tuple[LibraryCoverage, Support]]:
        """The libraries that are judged, with their verdicts; of alternatives only the best.

        A package can hold one library several times, built by several toolkits, and load the one
        that fits (bitsandbytes: ``libbitsandbytes_cuda126.so``, ``…cuda128.so``).
        """
        best: dict[str, tuple[LibraryCoverage, Support]] = {}
        for index, library in enumerate(self.libraries):
            verdict = library.support(card, toolkit=self.toolkit)
            if verdict is None:
                continue
            key, variants = _TOOLKIT_IN_NAME.subn("cuda*", library.name)
            key = key if variants else f"{library.name} {index}"
            if key not in best or _SEVERITY.index(verdict) > _SEVERITY.index(best[key][1]):
                best[key] = (library, verdict)
        return list(best.values())

    def _narrow(self, card: ComputeCapability) -> Support:
        used = [lib for lib in self.libraries if lib.has_device_code and not lib.is_optional]
        if used and all(library.is_opaque for library in used):
            return Support.UNKNOWN
        shares = [_share(library.containers, card, self.toolkit) for library in used]
        if not used or any(share.native for share in shares):
            return Support.SUPPORTED
        return Support.JIT if any(share.jit for share in shares) else Support.UNSUPPORTED


_TOOLKIT_IN_NAME = re.compile(r"cuda\d{2,3}(?=[_.])")

_SEVERITY = (Support.UNSUPPORTED, Support.PARTIAL, Support.JIT, Support.SUPPORTED)


def _majors(images: frozenset[Architecture]) -> int:
    """For how many majors there are images, without stray PTX and code for one card alone."""
    newest = max(
        (image.capability for image in images if image.kind is CodeKind.SASS),
        default=ComputeCapability(0, 0),
    )
    return len(
        {
            image.capability.major
            for image in images
            if not image.variant and (image.kind is CodeKind.SASS or image.capability >= newest)
        }
    )


def _share(
    containers: Mapping[frozenset[Architecture], int],
    card: ComputeCapability,
    toolkit: Version | None,
) -> Share:
    counts = {CodeKind.SASS: 0, CodeKind.PTX: 0, None: 0}
    for images, count in containers.items():
        usable = {image.kind for image in images if image.runs_on(card, toolkit=toolkit)}
        best = CodeKind.SASS if CodeKind.SASS in usable else CodeKind.PTX if usable else None
        counts[best] += count
    return Share(native=counts[CodeKind.SASS], jit=counts[CodeKind.PTX], none=counts[None])


class Feature(NamedTuple):
    """A feature that is used only where someone asks for it, and the library that serves it."""

    library: str
    """How the name of its file starts, such as ``libcusparseLt``; with a slash, its path."""
    name: str
    """What it does, for a report."""
    floor: ComputeCapability
    """The first card that has the feature."""
    evidence: tuple[Evidence, ...]


@cache
def feature_of(library: str) -> Feature | None:
    """The feature that a library serves, by its path in the wheel; None for most libraries."""
    file = library.rpartition("/")[2]
    for feature in _features():
        if (library if "/" in feature.library else file).startswith(feature.library):
            return feature
    return None


@cache
def _features() -> tuple[Feature, ...]:
    return tuple(parse_features(read_facts("features.toml")))


def parse_features(file: Entry) -> Iterator[Feature]:
    """Read the features of a facts file. Raises FactsError."""
    file.only("sources", "feature")
    sources = file.sources()
    for entry in file.entries("feature"):
        entry.only("library", "name", "floor", "source")
        yield Feature(
            library=entry.text("library"),
            name=entry.text("name"),
            floor=entry.capability("floor"),
            evidence=entry.evidence(sources),
        )
