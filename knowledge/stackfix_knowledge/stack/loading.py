"""Shared libraries of CUDA: who installs which, what becomes of who asks in vain, which is taken.

`facts/loading.toml` has the wheels that install a library and the packages that load it,
`facts/alternatives.toml` the packages that hold one library several times, built with several
CUDAs, and load one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.reader import Entry, Rows, Sources, read_facts
from stackfix_knowledge.wheels.coverage import Coverage, LibraryCoverage
from stackfix_knowledge.wheels.release import WheelFact

__all__ = [
    "Alternatives",
    "AlternativesTable",
    "Installer",
    "LoadTime",
    "Loading",
    "LoadingTable",
    "SharedLibrary",
]


class LoadTime(StrEnum):
    """When a package loads the libraries that it asks for."""

    IMPORT = "import"
    """At its import, or for its first kernel: without them nothing of it works on a GPU."""
    PART = "part"
    """For a part of it, which is missing otherwise."""
    SYSTEM = "system"
    """When a GPU is used; it is made to find them on the system, outside the environment."""


class Installer(NamedTuple):
    """The versions of a package that install a library."""

    package: str
    versions: SpecifierSet

    def installs(self, version: Version) -> bool:
        """Whether that version of the package does."""
        return not self.versions or self.versions.contains(version, prereleases=True)


class SharedLibrary(NamedTuple):
    """A shared library, by the name that the loader knows it by."""

    soname: str
    """``libcudart.so.12``."""
    installers: tuple[Installer, ...]
    """The packages that install it."""
    evidence: tuple[Evidence, ...]


class Loading(NamedTuple):
    """How some versions of a package load the libraries that they ask for."""

    package: str
    versions: SpecifierSet
    when: LoadTime
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

    def __init__(self, libraries: Rows[SharedLibrary], loadings: Rows[Loading]) -> None:
        self._libraries = libraries
        self.loadings = loadings

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
            Rows(file.entries("library"), "sonames", lambda entry: _libraries(entry, sources)),
            Rows(file.entries("loading"), "package", lambda entry: [_loading(entry, sources)]),
        )

    def __iter__(self) -> Iterator[SharedLibrary]:
        return iter(self._libraries)

    def library(self, soname: str) -> SharedLibrary | None:
        """The library of that name; None where no wheel is known to install it."""
        found = (each for each in self._libraries.about(soname) if each.soname == soname)
        return next(found, None)

    def of(self, package: str, version: Version) -> Loading:
        """How that release loads libraries; of a package that nobody looked at, a part of it."""
        for loading in self.loadings.about(package):
            if loading.concerns(version):
                return loading
        return Loading(
            package=package,
            versions=SpecifierSet(),
            when=LoadTime.PART,
            without="what needs it cannot be loaded",
        )


def _libraries(entry: Entry, sources: Sources) -> Iterator[SharedLibrary]:
    entry.only("sonames", "wheels", "source")
    wheels = entry.entry("wheels")
    installers = tuple(
        Installer(package=package, versions=wheels.specifiers(package)) for package in wheels.data
    )
    for soname in entry.texts("sonames"):
        yield SharedLibrary(soname=soname, installers=installers, evidence=entry.evidence(sources))


def _loading(entry: Entry, sources: Sources) -> Loading:
    entry.only(
        "package", "versions", "when", "without", "opens", "platforms", "spares", "advice", "source"
    )
    return Loading(
        package=entry.text("package"),
        versions=entry.specifiers("versions"),
        when=entry.choice("when", LoadTime),
        without=entry.text("without"),
        opens=entry.texts("opens"),
        platforms=entry.texts("platforms"),
        spares=frozenset(entry.texts("spares")),
        advice=entry.optional_text("advice"),
        evidence=entry.evidence(sources),
    )


class Alternatives(NamedTuple):
    """How some versions of a package choose among the libraries that they hold."""

    package: str
    versions: SpecifierSet
    beside: str
    """The package whose CUDA decides."""
    library: re.Pattern[str]
    """A library's file name; its group is the CUDA without a point, "128"."""
    same_major: bool
    """Whether another minor of the same major stands in for a missing one."""
    effect: str
    """What happens where no library fits."""
    advice: str | None
    """What helps without another version."""
    evidence: tuple[Evidence, ...]

    def held(self, coverage: Coverage) -> Mapping[Version, LibraryCoverage]:
        """The libraries that a wheel holds, by the CUDA that each is for."""
        found: dict[Version, LibraryCoverage] = {}
        for library in coverage.libraries:
            if match := self.library.fullmatch(library.name.rpartition("/")[2]):
                digits = match.group(1)
                found[Version(f"{digits[:-1]}.{digits[-1]}")] = library
        return found

    def loaded(self, held: Iterable[Version], cuda: Version) -> Version | None:
        """For which CUDA the library is that gets loaded beside `cuda`; None: there is none."""
        wanted = Version(f"{cuda.major}.{cuda.minor}")
        near = [one for one in held if one.major == wanted.major]
        if wanted in near or not self.same_major or not near:
            return wanted if wanted in near else None
        older = [one for one in near if one < wanted]
        return max(older) if older else min(near)


class AlternativesTable:
    """What is known of such packages."""

    def __init__(self, known: Rows[Alternatives]) -> None:
        self._known = known

    @classmethod
    def load(cls) -> AlternativesTable:
        """The shipped table."""
        file = read_facts("alternatives.toml")
        file.only("sources", "alternative")
        sources = file.sources()
        entries = file.entries("alternative")
        return cls(Rows(entries, "package", lambda entry: [_alternatives(entry, sources)]))

    def __iter__(self) -> Iterator[Alternatives]:
        return iter(self._known)

    def of(self, package: str, version: Version) -> Alternatives | None:
        """How this version of a package chooses; None: it holds every library once."""
        for known in self._known.about(package):
            if known.versions.contains(version, prereleases=True):
                return known
        return None


def _alternatives(entry: Entry, sources: Sources) -> Alternatives:
    entry.only(
        "package", "versions", "beside", "library", "loads", "effect", "advice", "source"
    )  # fmt: skip
    loads = entry.text("loads")
    if loads not in ("exact", "same-major"):
        raise entry.fault("loads", '"exact" or "same-major"')
    before, placeholder, after = entry.text("library").partition("{cuda}")
    if not placeholder:
        raise entry.fault("library", "a file name with {cuda} in it")
    return Alternatives(
        package=entry.text("package"),
        versions=entry.specifiers("versions"),
        beside=entry.text("beside"),
        library=re.compile(rf"{re.escape(before)}(\d{{3}}){re.escape(after)}"),
        same_major=loads == "same-major",
        effect=entry.text("effect"),
        advice=entry.optional_text("advice"),
        evidence=entry.evidence(sources),
    )
