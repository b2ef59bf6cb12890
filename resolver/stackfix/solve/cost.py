"""What a move of a framework costs, and in which order a package's versions are preferred.

Order of cost: nothing < NVIDIA's libraries asked for in another CUDA major < another index of the
same version < another variant of the same product < an override taken out < patch < minor < major;
up before down; what nobody measured after what is known. Costs are vectors that add up over
several frameworks and compare from the left, so that one major outweighs any number of minors.

A variant is one product built for several CUDA majors: jax[cuda12] and jax[cuda13], cupy-cuda12x
and cupy-cuda13x. Its code is the same and its version stays, so exchanging it is less than a patch;
the project asks for something else by name, so it is more than another index. Libraries that the
project itself asks for by a name of one CUDA major (nvidia-cudnn-cu12) are there for a framework's
sake: asking for those of the framework's own major comes before the framework moves at all.
"""

from __future__ import annotations

from typing import NamedTuple

from packaging.version import Version

__all__ = ["FREE", "Cost", "cost", "plus"]


class Cost(NamedTuple):
    """How much a move changes; smaller is cheaper."""

    unknown: int = 0
    major: int = 0
    minor: int = 0
    patch: int = 0
    override: int = 0
    """Overrides of the project that are taken out."""
    variant: int = 0
    """Requirements of the project that change to another variant of the same product."""
    source: int = 0
    """Comes from another index."""
    library: int = 0
    """NVIDIA's libraries that the project asks for in another CUDA major."""
    down: int = 0
    distance: int = 0
    """How many known releases lie between, which orders moves of the same kind."""
    added: int = 0
    """The project does not name that index yet."""


FREE = Cost()


def plus(left: Cost, right: Cost) -> Cost:
    """The cost of both moves together."""
    return Cost(*(a + b for a, b in zip(left, right, strict=True)))


def cost(
    before: Version,
    after: Version,
    *,
    known: bool,
    same_index: bool,
    new_index: bool = False,
    distance: int,
) -> Cost:
    """The cost of moving one package from `before` to `after`.

    `distance` is the number of releases between both; `known` whether the release's code was
    measured or documented; `new_index` whether the project would have to name its index first.
    """
    old, new = (*before.release, 0, 0, 0), (*after.release, 0, 0, 0)
    moved = old[:4] != new[:4] or Version(before.public) != Version(after.public)
    return Cost(
        unknown=0 if known else 1,
        major=int(moved and old[0] != new[0]),
        minor=int(moved and old[0] == new[0] and old[1] != new[1]),
        patch=int(moved and old[:2] == new[:2]),
        source=int(not same_index),
        down=int(Version(after.public) < Version(before.public)),
        distance=distance,
        added=int(new_index),
    )
