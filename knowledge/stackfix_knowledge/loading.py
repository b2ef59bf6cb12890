"""Shared libraries of CUDA: which wheel installs which, and what becomes of who asks in vain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.reader import Entry, Sources, read_facts
from stackfix_knowledge.release import WheelFact

__all__ = ["Installer", "Library", "Loading", "LoadingTable", "When"]


class When(StrEnum):
    """When a package loads the libraries that it asks for."""

    IMPORT = "import"
    """At its import, or for its first kernel: without them nothing of it works on a GPU."""
    PART = "part"
    """For a part of it, which is missing otherwise."""
    SYSTEM = "system"
    """When a GPU is used; it is made to find them on the system, outside the environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installer:
    """The versions of a package that install a library."""

    package: str
    versions: SpecifierSet

    def installs(self, version: Version) -> bool:
        """Whether that version of the package does."""
        return not self.versions or self.versions.contains(version, prereleases=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A shared library, by the name that the loader knows it by."""

    soname: str
    """``libcudart.so.12``."""
    installers: tuple[Installer, ...]
    """The packages that install it."""
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loading:
    """How some versions of a package load the libraries that they ask for."""

    package: str
    versions: SpecifierSet
    when: When
    without: str
    """What happens without them, as the end of a sentence."""
    opens: tuple[str, ...] = ()
    """Libraries that it asks for though no facts list them; ``{cuda}`` is its CUDA major."""
    platforms: tuple[str, ...] = ()
    """Where it opens them; empty: everywhere."""
    spares: frozenset[str] = frozenset()
    """Libraries that its binaries list and that it does without."""
    advice: str | None = None
    """How to have them installed, as a sentence."""
    evidence: tuple[Evidence, ...] = ()

    def concerns(self, version: Version) -> bool:
        """Whether this is about that version of the package."""
        return self.versions.contains(version, prereleases=True)

    def asks(self, wheel: WheelFact) -> tuple[str, ...]:
        """The names of all libraries that a wheel of these versions cannot do without."""
        if wheel.cpu_only:
            return ()
        names = list(wheel.needs)
        if not self.platforms or wheel.platform in self.platforms:
            names += [self._named(name, wheel.cuda) for name in self.opens]
        return tuple(name for name in dict.fromkeys(names) if name not in self.spares)

    @staticmethod
    def _named(name: str, cuda: Version | None) -> str:
        return name.replace("{cuda}", str(cuda.major)) if cuda is not None else name


class LoadingTable:
    """Every library of CUDA that wheels install, and how packages load them."""

    def __init__(self, libraries: Iterable[Library], loadings: Iterable[Loading]) -> None:
        self._libraries: Mapping[str, Library] = {each.soname: each for each in libraries}
        self._loadings = tuple(loadings)

    @classmethod
    def load(cls) -> LoadingTable:
        """The shipped table."""
        return cls.parse(read_facts("loading.toml"))

    @classmethod
    def parse(cls, file: Entry) -> LoadingTable:
        """Read a facts file of this kind. Raises FactsError."""
        file.only("sources", "library", "loading")
        sources = file.sources()
        return cls(
            [each for entry in file.entries("library") for each in _libraries(entry, sources)],
            [_loading(entry, sources) for entry in file.entries("loading")],
        )

    def __iter__(self) -> Iterator[Library]:
        return iter(self._libraries.values())

    def library(self, soname: str) -> Library | None:
        """The library of that name; None where no wheel is known to install it."""
        return self._libraries.get(soname)

    def of(self, package: str, version: Version) -> Loading:
        """How that release loads libraries; of a package that nobody looked at, a part of it."""
        for loading in self._loadings:
            if loading.package == package and loading.concerns(version):
                return loading
        return Loading(
            package=package,
            versions=SpecifierSet(),
            when=When.PART,
            without="what needs it cannot be loaded",
        )


def _libraries(entry: Entry, sources: Sources) -> Iterator[Library]:
    entry.only("sonames", "wheels", "source")
    wheels = entry.entry("wheels")
    installers = tuple(
        Installer(package=package, versions=wheels.specifiers(package)) for package in wheels.data
    )
    for soname in entry.texts("sonames"):
        yield Library(soname=soname, installers=installers, evidence=entry.evidence(sources))


def _loading(entry: Entry, sources: Sources) -> Loading:
    entry.only(
        "package", "versions", "when", "without", "opens", "platforms", "spares", "advice", "source"
    )
    when = entry.text("when")
    if when not in list(When):
        raise entry.fault("when", f"one of {', '.join(When)}")
    return Loading(
        package=entry.text("package"),
        versions=entry.specifiers("versions"),
        when=When(when),
        without=entry.text("without"),
        opens=entry.texts("opens"),
        platforms=entry.texts("platforms"),
        spares=frozenset(entry.texts("spares")),
        advice=entry.optional_text("advice"),
        evidence=entry.evidence(sources),
    )
