"""The environments of one lock: every choice of extras, every Python fork, every platform asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from packaging.version import Version

from stackfix.audit.forks import comes_alive, left_over
from stackfix.audit.selections import InstallChoice, singly
from stackfix.model.stack import Piece, Stack
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.environment import (
    ConflictError,
    Environment,
    UnsupportedPlatformError,
    environment,
)
from stackfix_lockfiles.lock import Lock, LockedPackage
from stackfix_lockfiles.platforms import Platform

__all__ = ["LockedEnvironment", "LockedEnvironments", "Walker"]


class Walker(Protocol):
    """A lock of any format, as far as environments go."""

    def walk(self, platform: Platform, python: str, choice: InstallChoice) -> Environment:
        """Raises ConflictError, UnsupportedPlatformError."""
        ...


@dataclass(frozen=True, slots=True)
class UvWalker:
    """A uv.lock."""

    lock: Lock

    def walk(self, platform: Platform, python: str, choice: InstallChoice) -> Environment:
        return environment(
            self.lock,
            platform=platform,
            python=python,
            extras=choice.extras,
            groups=choice.groups,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedEnvironment:
    """One environment that the lock can install."""

    stack: Stack
    environment: Environment
    choice: InstallChoice
    python: str
    own_python: bool
    """Whether it is the project's own Python instead of that of another fork."""

    @property
    def label(self) -> str:
        """What sets it apart from a plain `uv sync`; empty for that one."""
        parts = [self.choice.label, "" if self.own_python else f"Python {self.python}"]
        return ", ".join(part for part in parts if part)


@dataclass(slots=True)
class LockedEnvironments:
    """Walks a lock for one platform after the other; equal environments come once.

    The project's own Python is walked in every choice of extras. The Pythons of other forks are
    walked only where they bring a GPU package, or a neighbour of one, that was not seen before.
    """

    walker: Walker
    graph: Graph
    choices: tuple[InstallChoice, ...]
    pythons: tuple[str, ...]
    """The project's own first."""
    lock: Lock | None = None
    """The lock whose forks count; None where there are none."""
    strict: bool = False
    """Whether a choice that conflicts is refused, since somebody made it, and not taken apart."""
    usual: str | None = None
    """The index that most packages of the lock come from."""
    unsupported: set[str] = field(default_factory=set)
    """Platforms that the lock is not made for."""
    impossible: list[InstallChoice] = field(default_factory=list)
    """Choices that an edge deep in the lock makes conflict."""
    _pieces: dict[tuple[int, str, str], Piece | None] = field(default_factory=dict)
    _walked: dict[str, tuple[LockedEnvironment, ...]] = field(default_factory=dict)

    def of(self, platform: str) -> tuple[LockedEnvironment, ...]:
        """The environments on a platform with different GPU packages, the plainest first."""
        unique: dict[frozenset[int], LockedEnvironment] = {}
        for place in self.whole(platform):
            unique.setdefault(frozenset(map(id, place.stack.pieces.values())), place)
        return tuple(unique.values())

    def plainest(self, platform: str) -> LockedEnvironment:
        """The first of them. Raises UnsupportedPlatformError where the lock has none."""
        found = self.of(platform)
        if not found:
            assert self.lock is not None  # a flat list is for every platform
            raise UnsupportedPlatformError(self.lock, Platform.parse(platform))
        return found[0]

    def whole(self, platform: str) -> tuple[LockedEnvironment, ...]:
        """The environments on a platform that differ in any package."""
        if platform not in self._walked:
            unique: dict[frozenset[int], LockedEnvironment] = {}
            for place in self._all(platform):
                packages = frozenset(map(id, place.environment.packages.values()))
                unique.setdefault(packages, place)
            self._walked[platform] = tuple(unique.values())
        return self._walked[platform]

    def left_over(self) -> tuple[LockedPackage, ...]:
        """GPU packages of the lock, and their neighbours, that no walk so far came across."""
        if self.lock is None:
            return ()
        reached = {
            id(package)
            for places in self._walked.values()
            for place in places
            for package in place.environment.packages.values()
        }
        return left_over(self.lock, reached, self.graph.packages.is_stack)

    def _all(self, platform: str) -> Iterator[LockedEnvironment]:
        own = tuple(self._on(platform, self.pythons[0], own=True))
        yield from own
        if self.lock is None or len(self.pythons) < 2:
            return
        reached = {id(p) for place in own for p in place.environment.packages.values()}
        left = left_over(self.lock, reached, self.graph.packages.is_stack)
        for python in self.pythons[1:]:
            if comes_alive(self.lock, left, platform, python):
                yield from self._on(platform, python, own=False)

    def _on(self, platform: str, python: str, *, own: bool) -> Iterator[LockedEnvironment]:
        todo = list(reversed(self.choices))
        while todo:
            choice = todo.pop()
            try:
                walked = self.walker.walk(Platform.parse(platform), python, choice)
            except UnsupportedPlatformError:
                self.unsupported.add(platform)
                return
            except ConflictError:
                if self.strict:
                    raise
                parts = list(singly(choice))
                if len(parts) > 1:
                    todo += reversed(parts)
                elif choice not in self.impossible:
                    self.impossible.append(choice)
                continue
            yield LockedEnvironment(
                stack=self._stack(walked),
                environment=walked,
                choice=choice,
                python=python,
                own_python=own,
            )

    def _stack(self, walked: Environment) -> Stack:
        platform = walked.platform
        minor = ".".join(walked.python.split(".")[:2])
        pieces: dict[str, Piece] = {}
        for name, locked in walked.installed.items():
            key = (id(locked), platform.name, minor)
            if key not in self._pieces:
                self._pieces[key] = Piece.of(
                    self.graph, locked, platform, walked.python, self.usual
                )
            if (piece := self._pieces[key]) is not None:
                pieces[name] = piece
        return Stack(
            platform=platform.name, python=walked.python, pieces=pieces, environment=walked
        )


def versions_of(places: Iterable[LockedEnvironment]) -> Mapping[str, set[Version]]:
    """The versions of each GPU package that some of the environments install."""
    found: dict[str, set[Version]] = {}
    for place in places:
        for piece in place.stack:
            found.setdefault(piece.name, set()).add(piece.version)
    return found
