"""The worlds to search: the project as it is, and with more of it set aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stackfix.plan.declared import world
from stackfix.plan.exchanging import Worlds, worlds
from stackfix.plan.request import Request
from stackfix.plan.sites import Ground
from stackfix.solve.joint import Joint
from stackfix.solve.search import Failure
from stackfix.solve.world import Demand, Homes, World

__all__ = ["Scene", "scenes"]

OVERRIDABLE = (("nccl",), ("cudnn",), ("nccl", "cudnn"))
"""Libraries whose interface is stable within a major and that frameworks pin without extras, in
the order in which their pins are given up."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Worlds that are searched together, in order of cost."""

    around: tuple[Worlds, ...]

    @property
    def held(self) -> list[Failure]:
        """Variants that cannot be exchanged, each with the reason."""
        return list(dict.fromkeys(failure for one in self.around for failure in one.held))

    def search(self, *, newest: bool = False) -> Joint:
        """The search of all of them."""
        return Joint([world for one in self.around for world in one.all], newest=newest)


def scenes(
    request: Request, ground: Ground, demands: Sequence[Demand], homes: Homes
) -> Iterator[Scene]:
    """What to search for these sites, one after another.

    First the project with its overrides and without those on the stack; if what is cheapest there
    does not lock, without them alone; then, if the user allows it, with pins of libraries relaxed.
    """

    def seen(scene: World) -> Worlds:
        return worlds(request, ground, scene, demands)

    first = world(request, ground, demands, homes=homes)
    bare = world(request, ground, demands, overrides=False, homes=homes)
    if bare.set_aside:
        yield Scene((seen(first), seen(bare)))
        yield Scene((seen(bare),))
    else:
        yield Scene((seen(first),))
    if request.allow_override:
        packages = request.graph.packages
        for libraries in OVERRIDABLE:
            relaxed = frozenset(p.name for what in libraries for p in packages.providing(what))
            loose = world(request, ground, demands, overrides=False, relaxed=relaxed, homes=homes)
            yield Scene((seen(loose),))
