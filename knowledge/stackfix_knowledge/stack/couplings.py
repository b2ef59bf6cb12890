"""What must go together, or must not, although no wheel's metadata says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix_knowledge.cards.cuda import CudaTable
from stackfix_knowledge.evidence import Evidence, FactSeverity
from stackfix_knowledge.reader import Entry, Rows, Sources, read_facts

__all__ = [
    "Collision",
    "Coupling",
    "CouplingTable",
    "CudaCheck",
    "Relation",
    "RuntimeCheck",
    "parse_couplings",
]


class Relation(StrEnum):
    """How two packages of a coupling depend on each other."""

    SPECIFIERS = "specifiers"
    """The needed package's version must meet specifiers."""
    SAME_VERSION = "same-version"
    """Both must have the same version."""
    UNKNOWN = "unknown"
    """They depend on each other, but for these versions nobody wrote down how."""


class Coupling(NamedTuple):
    """Some versions of a package need some versions of another one, if both are installed."""

    package: str
    versions: SpecifierSet
    """The versions of `package` that this is about."""
    needs: str
    """The other package."""
    relation: Relation
    specifiers: SpecifierSet | None
    """What the other's version must meet; None unless the relation is SPECIFIERS."""
    severity: FactSeverity
    """What it is when not met."""
    why: str
    """One sentence: what ties them, and what happens otherwise."""
    evidence: tuple[Evidence, ...]

    def concerns(self, version: Version) -> bool:
        """Whether this is about that version of `package`."""
        return self.versions.contains(version, prereleases=True)

    def met(self, version: Version, other: Version) -> bool | None:
        """Whether `version` of the package goes with `other` of the needed one.

        None if that is not known. Ask only where `concerns(version)` holds.
        """
        if self.relation is Relation.UNKNOWN:
            return None
        if self.relation is Relation.SAME_VERSION:
            return version.release == other.release
        assert self.specifiers is not None
        return self.specifiers.contains(other, prereleases=True)


class Collision(NamedTuple):
    """Two packages that install the same file: the second one installed overwrites the first."""

    package: str
    versions: SpecifierSet
    other: str
    other_versions: SpecifierSet
    path: str
    """The file or the pattern of files in question, relative to site-packages."""
    evidence: tuple[Evidence, ...]

    @classmethod
    def measured(cls, package: str, other: str, evidence: tuple[Evidence, ...]) -> Collision:
        """A collision that was measured of some versions, and is expected of all."""
        return cls(
            package=package,
            versions=SpecifierSet(),
            other=other,
            other_versions=SpecifierSet(),
            path="files of the same name",
            evidence=evidence,
        )

    def between(self, version: Version, other: Version) -> bool:
        """Whether these very versions collide."""
        return self.versions.contains(version, prereleases=True) and self.other_versions.contains(
            other, prereleases=True
        )

    def turned(self) -> Collision:
        """The same collision seen from the other package."""
        return Collision(
            package=self.other,
            versions=self.other_versions,
            other=self.package,
            other_versions=self.versions,
            path=self.path,
            evidence=self.evidence,
        )


class RuntimeCheck(NamedTuple):
    """A package that looks at a library's version when it runs, and refuses an unfit one.

    The version it was built with is a fact of its wheel (`WheelFact.built_against`). The rule is
    always: same major, and a minor at least as high.
    """

    package: str
    versions: SpecifierSet
    library: str
    """The library, as `Package.provides` names it ("cudnn")."""
    effect: str
    """What happens otherwise."""
    escape: str | None
    """An environment setting that turns the check off."""
    evidence: tuple[Evidence, ...]


class CudaCheck(NamedTuple):
    """A package that compares its CUDA with another's when it is imported, and refuses to load."""

    package: str
    versions: SpecifierSet
    beside: str
    """The other package."""
    minor: bool
    """Whether the minor counts too, not the major alone."""
    effect: str
    """What happens otherwise."""
    evidence: tuple[Evidence, ...]

    def met(self, own: Version, other: Version, cuda: CudaTable) -> bool:
        """Whether a build with CUDA `own` loads beside one with `other`.

        Toolkits that measuring does not tell apart pass for one.
        """
        if not self.minor:
            return own.major == other.major
        return cuda.as_measured(own) == cuda.as_measured(other)


class CouplingTable:
    """All couplings, collisions, run-time checks and checks of CUDA."""

    def __init__(
        self,
        *,
        couplings: Rows[Coupling],
        collisions: Rows[Collision],
        checks: Rows[RuntimeCheck],
        cuda: Rows[CudaCheck],
        own: Iterable[Coupling] = (),
    ) -> None:
        self.couplings = couplings
        self.collisions = collisions
        self.checks = checks
        self.cuda = cuda
        self._own = tuple(own)

    @classmethod
    def load(cls, own: Iterable[Coupling] = ()) -> CouplingTable:
        """The shipped table, and a project's own couplings."""
        file = read_facts("couplings.toml")
        file.only("sources", "coupling", "collision", "runtime-check", "cuda-check")
        sources = file.sources()
        return cls(
            couplings=_rows(file, "coupling"),
            collisions=Rows(
                file.entries("collision"), "packages", lambda entry: _collisions(entry, sources)
            ),
            checks=Rows(
                file.entries("runtime-check"), "package", lambda entry: [_check(entry, sources)]
            ),
            cuda=Rows(
                file.entries("cuda-check"), "package", lambda entry: [_cuda_check(entry, sources)]
            ),
            own=own,
        )

    def __iter__(self) -> Iterator[Coupling | Collision | RuntimeCheck | CudaCheck]:
        return chain(self.couplings, self._own, self.collisions, self.checks, self.cuda)

    def of(self, package: str) -> tuple[Coupling, ...]:
        """The couplings by which this package needs others."""
        own = (coupling for coupling in self._own if coupling.package == package)
        return (*self.couplings.about(package), *own)

    def collisions_of(self, package: str) -> tuple[Collision, ...]:
        """The collisions of this package, each seen from it."""
        return tuple(
            collision if collision.package == package else collision.turned()
            for collision in self.collisions.about(package)
            if package in (collision.package, collision.other)
        )

    def checks_of(self, package: str) -> tuple[RuntimeCheck, ...]:
        """What this package checks when it runs."""
        return tuple(self.checks.about(package))

    def cuda_checks_of(self, package: str, version: Version) -> tuple[CudaCheck, ...]:
        """With whose CUDA this version of a package compares its own."""
        return tuple(
            check
            for check in self.cuda.about(package)
            if check.versions.contains(version, prereleases=True)
        )


def parse_couplings(file: Entry, key: str) -> Iterator[Coupling]:
    """Read the couplings under `key` of a facts file, one for each of their rows.

    Raises FactsError.
    """
    yield from _rows(file, key)


def _rows(file: Entry, key: str) -> Rows[Coupling]:
    sources = file.sources()
    return Rows(file.entries(key), "package", lambda entry: _couplings(entry, sources))


def _couplings(entry: Entry, sources: Sources) -> Iterator[Coupling]:
    entry.only("package", "needs", "relation", "rows", "severity", "why", "source")
    relation = entry.optional_choice("relation", Relation) or Relation.SPECIFIERS
    for row in entry.entries("rows"):
        row.only("versions", "needs")
        needs = row.optional_specifiers("needs")
        unknown = needs is None and relation is Relation.SPECIFIERS
        yield Coupling(
            package=entry.text("package"),
            versions=row.specifiers("versions"),
            needs=entry.text("needs"),
            relation=Relation.UNKNOWN if unknown else relation,
            specifiers=needs,
            severity=entry.choice("severity", FactSeverity),
            why=entry.text("why"),
            evidence=entry.evidence(sources),
        )


def _collisions(entry: Entry, sources: Sources) -> Iterator[Collision]:
    """Every pair among the packages of a `[[collision]]` table."""
    entry.only("packages", "versions", "path", "source")
    packages = entry.texts("packages")
    if len(packages) < 2:
        raise entry.fault("packages", "at least two packages")
    versions = entry.entry("versions")
    versions.only(*packages)
    for index, package in enumerate(packages):
        for other in packages[index + 1 :]:
            yield Collision(
                package=package,
                versions=versions.specifiers(package),
                other=other,
                other_versions=versions.specifiers(other),
                path=entry.text("path"),
                evidence=entry.evidence(sources),
            )


def _check(entry: Entry, sources: Sources) -> RuntimeCheck:
    entry.only("package", "versions", "library", "effect", "escape", "source")
    return RuntimeCheck(
        package=entry.text("package"),
        versions=entry.specifiers("versions"),
        library=entry.text("library"),
        effect=entry.text("effect"),
        escape=entry.optional_text("escape"),
        evidence=entry.evidence(sources),
    )


def _cuda_check(entry: Entry, sources: Sources) -> CudaCheck:
    entry.only("package", "versions", "beside", "compares", "effect", "source")
    compares = entry.text("compares")
    if compares not in ("major", "minor"):
        raise entry.fault("compares", '"major" or "minor"')
    return CudaCheck(
        package=entry.text("package"),
        versions=entry.specifiers("versions"),
        beside=entry.text("beside"),
        minor=compares == "minor",
        effect=entry.text("effect"),
        evidence=entry.evidence(sources),
    )
