"""CUDA toolkits, drivers and the life span of each compute capability."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

from packaging.version import Version

from stackfix_knowledge.evidence import Evidence, Fact
from stackfix_knowledge.hardware import ComputeCapability, DriverVersion
from stackfix_knowledge.reader import Entry, Sources, read_facts

__all__ = ["CudaTable", "LifeSpan", "PtxLanguage", "Toolkit", "cuda_table"]


class Toolkit(NamedTuple):
    """One release of the CUDA toolkit."""

    version: Version
    linux: DriverVersion | None
    """The driver that belongs to it on Linux; PTX that it wrote needs at least this one."""
    windows: DriverVersion | None
    evidence: tuple[Evidence, ...]
    note: str | None = None


class LifeSpan(NamedTuple):
    """Which toolkits and drivers know cards of one compute capability."""

    capability: ComputeCapability
    first_cuda: Version | None
    """The first toolkit that can compile for it."""
    last_cuda: Version | None
    """The last one, as major.minor; None while support goes on."""
    first_driver: DriverVersion | None
    last_branch: int | None
    """The last driver branch that supports it; None while support goes on."""
    evidence: tuple[Evidence, ...]
    note: str | None = None
    dates_code: bool = False
    """Whether code for it tells that its toolkit is `first_cuda` or a newer one."""
    formerly: tuple[ComputeCapability, Version] | None = None
    """Its name before it was renamed, and the first toolkit that knew it by that."""


class PtxLanguage(NamedTuple):
    """A version of the PTX language."""

    language: tuple[int, int]
    toolkits: tuple[Version, ...]
    """The toolkits that write it, as major.minor, ascending; a driver must know the first."""
    evidence: tuple[Evidence, ...]


class CudaTable:
    """Toolkits, drivers and capabilities; each answer comes with its evidence."""

    def __init__(
        self,
        *,
        toolkits: Iterable[Toolkit],
        minima: Mapping[tuple[int, str], Fact[DriverVersion]],
        spans: Iterable[LifeSpan],
        languages: Iterable[PtxLanguage] = (),
        forward_compatibility: tuple[Evidence, ...] = (),
    ) -> None:
        self.toolkits = tuple(sorted(toolkits, key=lambda toolkit: toolkit.version))
        self.spans = {span.capability.device: span for span in spans}
        self._minima = dict(minima)
        self.languages = tuple(languages)
        self.forward_compatibility = forward_compatibility
        """On which cards the libcuda of the package cuda-compat may stand before the driver's."""

    @classmethod
    def load(cls) -> CudaTable:
        """The shipped table."""
        file = read_facts("cuda.toml")
        file.only(
            "sources", "toolkit", "compatibility", "forward-compatibility", "ptx", "capability"
        )  # fmt: skip
        sources = file.sources()
        return cls(
            toolkits=[_toolkit(entry, sources) for entry in file.entries("toolkit")],
            minima=dict(
                pair for entry in file.entries("compatibility") for pair in _minima(entry, sources)
            ),
            spans=[_span(entry, sources) for entry in file.entries("capability")],
            languages=[_language(entry, sources) for entry in file.entries("ptx")],
            forward_compatibility=file.entry("forward-compatibility").evidence(sources),
        )

    @property
    def majors(self) -> tuple[int, ...]:
        """The CUDA majors whose oldest driver is known, ascending."""
        return tuple(sorted({major for major, _ in self._minima}))

    def minimum_driver(
        self, cuda_major: int, platform: str = "linux_x86_64"
    ) -> Fact[DriverVersion] | None:
        """The oldest driver that runs binaries of any toolkit of that major.

        This is minor-version compatibility: it holds for compiled code. PTX is another matter,
        see `toolkit_driver`.
        """
        return self._minima.get((cuda_major, _system(platform)))

    def toolkit_driver(
        self, cuda: Version, platform: str = "linux_x86_64"
    ) -> Fact[DriverVersion] | None:
        """The oldest driver that compiles PTX written by this toolkit, by its major and minor.

        Later digits do not count, so a component's own number ("12.8.93") may be given. None if
        the toolkit is not known.
        """
        for toolkit in self.toolkits:
            if toolkit.version.release[:2] == cuda.release[:2]:
                driver = toolkit.windows if _system(platform) == "windows" else toolkit.linux
                if driver is not None:
                    return Fact(value=driver, evidence=toolkit.evidence, note=toolkit.note)
        return None

    def first_driver(self, capability: ComputeCapability) -> Fact[DriverVersion] | None:
        """The first Linux driver that runs a card of this capability; None if not known."""
        span = self.spans.get(capability.device)
        if span is None or span.first_driver is None:
            return None
        return Fact(value=span.first_driver, evidence=span.evidence, note=span.note)

    def last_branch(self, capability: ComputeCapability) -> Fact[int] | None:
        """The last driver branch for this capability; None while no end is known."""
        span = self.spans.get(capability.device)
        if span is None or span.last_branch is None:
            return None
        return Fact(value=span.last_branch, evidence=span.evidence, note=span.note)

    def first_cuda(self, capability: ComputeCapability) -> Fact[Version] | None:
        """The first toolkit that compiles for this capability; None if not known."""
        span = self.spans.get(capability.device)
        if span is None or span.first_cuda is None:
            return None
        return Fact(value=span.first_cuda, evidence=span.evidence, note=span.note)

    def dropped(self, capability: ComputeCapability) -> Fact[int] | None:
        """The CUDA major that no longer supports this capability; None while none is known."""
        span = self.spans.get(capability.device)
        if span is None or span.last_cuda is None:
            return None
        return Fact(value=span.last_cuda.major + 1, evidence=span.evidence, note=span.note)

    def oldest_card(self, cuda_major: int) -> ComputeCapability | None:
        """The oldest capability that toolkits of this major compile for; None if not known."""
        served = [
            capability
            for capability, span in self.spans.items()
            if span.last_cuda is None or span.last_cuda.major >= cuda_major
        ]
        return min(served, default=None)

    def first_writing(self, language: tuple[int, int]) -> Version | None:
        """The first toolkit that writes this version of PTX, as major.minor; None if not known."""
        known = (one.toolkits[0] for one in self.languages if one.language == language)
        return next(known, None)

    def first_building(self, capability: ComputeCapability) -> Version | None:
        """The toolkit that code for this capability is at least of; None where it does not tell."""
        span = self.spans.get(capability.device)
        if span is None or not span.dates_code:
            return None
        if span.formerly is not None and span.formerly[0] == capability:
            return span.formerly[1]
        return span.first_cuda

    def as_measured(self, cuda: Version) -> Version:
        """A toolkit, as major.minor, the way measuring tells it: by the PTX that it writes."""
        exact = Version(f"{cuda.major}.{cuda.minor}")
        alike = (one.toolkits[0] for one in self.languages if exact in one.toolkits)
        return next(alike, exact)

    def advised_driver(
        self, capability: ComputeCapability, at_least: DriverVersion
    ) -> Fact[DriverVersion] | None:
        """The oldest driver that is `at_least` that and supports the card.

        None if there is none: the driver asked for no longer supports the card.
        """
        span = self.spans.get(capability.device)
        first = span.first_driver if span is not None else None
        wanted = at_least if first is None else max(first, at_least)
        if span is None:
            return None
        if span.last_branch is not None and wanted.branch > span.last_branch:
            return None
        return Fact(value=wanted, evidence=span.evidence, note=span.note)


@cache
def cuda_table() -> CudaTable:
    """The shipped table, read once."""
    return CudaTable.load()


def _system(platform: str) -> str:
    return "windows" if platform.startswith("win") else "linux"


def _toolkit(entry: Entry, sources: Sources) -> Toolkit:
    entry.only("version", "linux", "windows", "source", "note")
    return Toolkit(
        version=entry.version("version"),
        linux=entry.driver("linux"),
        windows=entry.driver("windows"),
        evidence=entry.evidence(sources),
        note=entry.optional_text("note"),
    )


def _minima(
    entry: Entry, sources: Sources
) -> Iterable[tuple[tuple[int, str], Fact[DriverVersion]]]:
    entry.only("cuda", "linux", "windows", "source", "note")
    for system in ("linux", "windows"):
        driver = entry.driver(system)
        if driver is not None:
            known = Fact(
                value=driver,
                evidence=entry.evidence(sources),
                note=entry.optional_text("note"),
            )
            yield (entry.integer("cuda"), system), known


def _span(entry: Entry, sources: Sources) -> LifeSpan:
    entry.only(
        "capability", "first-cuda", "last-cuda", "first-driver", "last-branch", "dates-code",
        "formerly", "source", "note",
    )  # fmt: skip
    formerly = entry.entry("formerly")
    formerly.only("capability", "first-cuda")
    return LifeSpan(
        capability=entry.capability("capability"),
        first_cuda=entry.optional_version("first-cuda"),
        last_cuda=entry.optional_version("last-cuda"),
        first_driver=entry.driver("first-driver"),
        last_branch=entry.optional_integer("last-branch"),
        evidence=entry.evidence(sources),
        note=entry.optional_text("note"),
        dates_code=entry.flag("dates-code"),
        formerly=(formerly.capability("capability"), formerly.version("first-cuda"))
        if "formerly" in entry
        else None,
    )


def _language(entry: Entry, sources: Sources) -> PtxLanguage:
    entry.only("language", "toolkits", "source")
    language = entry.version("language")
    toolkits = entry.versions("toolkits")
    if not toolkits or list(toolkits) != sorted(toolkits):
        raise entry.fault("toolkits", "the toolkits that write it, ascending")
    return PtxLanguage(
        language=(language.major, language.minor),
        toolkits=toolkits,
        evidence=entry.evidence(sources),
    )
