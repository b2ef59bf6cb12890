"""Packages that hold one library several times, built with several CUDAs, and load one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix_knowledge.coverage import Coverage, LibraryCoverage
from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.reader import Entry, Sources, read_facts

__all__ = ["Alternatives", "AlternativesTable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternatives:
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

    def __init__(self, known: Iterable[Alternatives]) -> None:
        self.all = tuple(known)

    @classmethod
    def load(cls) -> AlternativesTable:
        """The shipped table."""
        file = read_facts("alternatives.toml")
        file.only("sources", "alternative")
        sources = file.sources()
        return cls(_read(entry, sources) for entry in file.entries("alternative"))

    def of(self, package: str, version: Version) -> Alternatives | None:
        """How this version of a package chooses; None: it holds every library once."""
        for known in self.all:
            if known.package == package and known.versions.contains(version, prereleases=True):
                return known
        return None


def _read(entry: Entry, sources: Sources) -> Alternatives:
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
