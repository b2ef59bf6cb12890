"""The stack: the GPU packages of one environment, each joined with what is known of it.

Rules judge stacks. A stack comes from a lock (`Stack.of`) or from the solver, which builds one out
of candidates before any lock exists, so that both are judged by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from packaging.version import InvalidVersion, Version

from stackfix_knowledge.capability import ComputeCapability
from stackfix_knowledge.coverage import Support
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.packages import Package
from stackfix_knowledge.release import Release, WheelFact
from stackfix_lockfiles.environment import Environment
from stackfix_lockfiles.lock import LockedFile, LockedPackage

__all__ = ["Piece", "Stack"]


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
        platform = environment.platform.name
        for name, locked in environment.installed.items():
            package = graph.packages.get(name)
            if package is None or locked.version is None:
                continue
            try:
                version = Version(locked.version)
            except InvalidVersion:
                continue
            known = Piece.known(graph, package, version, platform)
            pieces[name] = Piece(
                package=package,
                version=version,
                release=known.release,
                wheel=known.wheel,
                locked=locked,
                file=environment.platform.wheel(locked, environment.python),
            )
        return cls(
            platform=platform, python=environment.python, pieces=pieces, environment=environment
        )
