"""The stack: the GPU packages of one environment, each joined with what is known of it.

Rules judge stacks. A stack comes from a lock (`Stack.of`) or from the solver, which builds one out
of candidates before any lock exists, so that both are judged by the same rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from packaging.version import InvalidVersion, Version

from stackfix_knowledge.graph import Graph
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.stack.packages import Package
from stackfix_knowledge.wheels.coverage import Support
from stackfix_knowledge.wheels.release import Release, WheelFact
from stackfix_lockfiles.environment import Environment
from stackfix_lockfiles.lock import LockedFile, LockedPackage
from stackfix_lockfiles.platforms import Platform

__all__ = ["Piece", "Stack", "is_other_build", "usual_index"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One GPU package at one version on one platform."""

    package: Package
    version: Version
    release: Release | None
    """What is known of this version; None: nothing."""
    wheel: WheelFact | None
    """The facts of the wheel for the stack's platform; None: nothing known."""
    locked: LockedPackage | None = None
    file: LockedFile | None = None
    """The wheel of the lock that would be installed; None: no wheel fits, or no lock yet."""

    @property
    def name(self) -> str:
        return self.package.name

    @property
    def title(self) -> str:
        """ "torch 2.7.1", as reports name it."""
        return f"{self.name} {self.version}"

    def support(self, card: ComputeCapability) -> Support:
        """What it can do on a card, as far as anybody measured or documented it."""
        if self.wheel is None or self.wheel.coverage is None:
            return Support.UNKNOWN
        return self.wheel.coverage.support(card)

    @classmethod
    def known(cls, graph: Graph, package: Package, version: Version, platform: str) -> Piece:
        """The piece as the graph knows it, without a lock."""
        release = graph.release(package.name, version)
        wheel = release.wheel(platform) if release else None
        return cls(package=package, version=version, release=release, wheel=wheel)

    @classmethod
    def of(
        cls,
        graph: Graph,
        locked: LockedPackage,
        platform: Platform,
        python: str,
        usual: str | None,
    ) -> Piece | None:
        """The piece that a lock installs; None for what is no GPU package or has no version.

        Of a build of the same version by somebody else nothing is known. `usual` is the index
        that most of the lock's packages come from.
        """
        package = graph.packages.get(locked.name)
        if package is None or locked.version is None:
            return None
        try:
            version = Version(locked.version)
        except InvalidVersion:
            return None
        known = cls.known(graph, package, version, platform.name)
        release = known.release
        if release is not None and is_other_build(locked, release, usual):
            release = None
        return cls(
            package=package,
            version=version,
            release=release,
            wheel=known.wheel if release else None,
            locked=locked,
            file=platform.wheel(locked, python),
        )


def usual_index(packages: Iterable[LockedPackage]) -> str | None:
    """The index that most packages of a lock come from: a default one, or its mirror."""
    used = Counter(index for package in packages if (index := package.source.index))
    return used.most_common(1)[0][0] if used else None


def is_other_build(locked: LockedPackage, release: Release, usual: str | None) -> bool:
    """Whether somebody else built this version than the one whose wheels were measured.

    PyTorch's index has builds of its own for some platforms, and so have vendors of boards. Hashes
    tell; where the lock lists no measured file, a package that does not come from the `usual`
    index of its lock is taken for another build.
    """
    hashes = {
        fact.file: f"sha256:{fact.sha256}" for fact in release.wheels if fact.sha256 is not None
    }
    listed = [wheel for wheel in locked.wheels if wheel.hash and wheel.filename in hashes]
    if listed:
        return all(wheel.hash != hashes[wheel.filename] for wheel in listed)
    index = locked.source.index
    return release.home is None and index is not None and usual is not None and index != usual


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """The pieces that one environment would install together."""

    platform: str
    python: str
    pieces: Mapping[str, Piece]
    environment: Environment | None = None
    _providers: dict[str, tuple[Piece, ...]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces.values())

    def __len__(self) -> int:
        return len(self.pieces)

    def get(self, name: str) -> Piece | None:
        return self.pieces.get(name)

    def providers(self, thing: str) -> tuple[Piece, ...]:
        """The pieces that bring `thing` ("cudnn", "nccl", …) into the environment."""
        found = self._providers.get(thing)
        if found is None:
            found = tuple(piece for piece in self if piece.package.provides == thing)
            self._providers[thing] = found
        return found

    @classmethod
    def of(cls, environment: Environment, graph: Graph) -> Stack:
        """The stack that a locked environment holds; packages without a version are left out."""
        pieces: dict[str, Piece] = {}
        usual = usual_index(environment.packages.values())
        for name, locked in environment.installed.items():
            piece = Piece.of(graph, locked, environment.platform, environment.python, usual)
            if piece is not None:
                pieces[name] = piece
        return cls(
            platform=environment.platform.name,
            python=environment.python,
            pieces=pieces,
            environment=environment,
        )
