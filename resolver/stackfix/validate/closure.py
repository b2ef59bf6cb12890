"""What of a lock a scratch environment gets: the stack and all that it needs, or everything."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.environment import Environment
from stackfix_lockfiles.packages import LockedPackage

__all__ = ["Closure", "closure"]

_UNPACKED = 2.2
"""Bytes on disk for one byte of wheel: CUDA wheels unpack to 1.5 to 2 times their size."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """The packages to install and those to leave out."""

    packages: tuple[LockedPackage, ...]
    left_out: tuple[str, ...]
    """Names that `uv sync` is told not to install."""
    built: tuple[str, ...]
    """Packages without a wheel for this platform: left out, or with `everything` built."""
    download: int
    """Bytes of wheels, as the lock has them; what uv's cache holds already is counted too."""
    unsized: int
    """Wheels whose size the lock does not tell."""

    @property
    def disk(self) -> int:
        """Bytes that the packages take once unpacked, estimated."""
        return int(self.download * _UNPACKED)


def closure(environment: Environment, graph: Graph, *, everything: bool) -> Closure:
    """The stack's closure over the lock's edges. The project's own packages are never in it."""
    foreign = {
        name: package
        for name, package in environment.installed.items()
        if not package.source.is_local
    }
    stack = [name for name in foreign if graph.packages.get(name) is not None]
    wanted = set(foreign) if everything else _reached(stack, environment)
    wheels = {
        name: environment.platform.wheel(package, environment.python)
        for name, package in foreign.items()
        if name in wanted
    }
    built = tuple(sorted(name for name, wheel in wheels.items() if wheel is None))
    if not everything:
        wanted -= set(built)
    sizes = [wheel.size for name, wheel in wheels.items() if wheel and name in wanted]
    return Closure(
        packages=tuple(foreign[name] for name in sorted(wanted & set(foreign))),
        left_out=tuple(sorted(set(foreign) - wanted)),
        built=built,
        download=sum(size or 0 for size in sizes),
        unsized=sum(size is None for size in sizes),
    )


def _reached(start: Collection[str], environment: Environment) -> set[str]:
    edges = environment.edges
    found = set(start)
    open_ends = list(start)
    while open_ends:
        for child in edges.get(open_ends.pop(), ()):
            if child not in found:
                found.add(child)
                open_ends.append(child)
    return found
