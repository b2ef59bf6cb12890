"""The worlds to search: the project as it is, and with more of it set aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stackfix.plan.declared import world
from stackfix.plan.exchanging import Worlds, worlds
from stackfix.plan.request import Request
from stackfix.plan.sites import Ground
from stackfix.rules.finding import Finding
from stackfix.rules.judge import errors
from stackfix.rules.sf503_override import Override
from stackfix.solve.joint import Joint
from stackfix.solve.search import Failure
from stackfix.solve.world import Demand, Homes, World

__all__ = ["Scene", "at_fault", "scenes"]

OVERRIDABLE = (("nccl",), ("cudnn",), ("nccl", "cudnn"))
"""Libraries whose interface is stable within a major and that frameworks pin without extras, in
the order in which their pins are given up."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Worlds that are searched together, in order of cost."""

    around: tuple[Worlds, ...]
    last_resort: bool = False
    """Pins of libraries are overridden: only where nothing else works, however little is known."""

    @property
    def held(self) -> list[Failure]:
        """Variants that cannot be exchanged, each with the reason."""
        return list(dict.fromkeys(failure for one in self.around for failure in one.held))

    def search(self, *, newest: bool = False) -> Joint:
        """The search of all of them."""
        return Joint([world for one in self.around for world in one.all], newest=newest)


def at_fault(findings: Iterable[Finding]) -> frozenset[str]:
    """The packages whose override is an error by itself."""
    return frozenset(f.package for f in errors(findings) if f.code == Override.code)


def scenes(
    request: Request,
    ground: Ground,
    demands: Sequence[Demand],
    homes: Homes,
    suspects: frozenset[str] = frozenset(),
) -> Iterator[Scene]:
    """What to search for these sites, one after another.

    First the project as it is: with all its overrides, or without those on `suspects` where that
    moves less. Then without any on the stack; then, if the user allows it, with pins of libraries
    relaxed.
    """

    def seen(scene: World) -> Worlds:
        return worlds(request, ground, scene, demands)

    first = world(request, ground, demands, homes=homes)
    cleared = world(request, ground, demands, without=suspects, homes=homes)
    yield Scene((seen(first), seen(cleared)) if cleared.set_aside else (seen(first),))
    bare = world(request, ground, demands, overrides=False, homes=homes)
    if bare.set_aside:
        yield Scene((seen(bare),))
    if request.allow_override:
        packages = request.graph.packages
        for libraries in OVERRIDABLE:
            relaxed = frozenset(p.name for what in libraries for p in packages.providing(what))
            loose = world(request, ground, demands, overrides=False, relaxed=relaxed, homes=homes)
            yield Scene((seen(loose),), last_resort=True)
