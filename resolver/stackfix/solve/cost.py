"""What a move of a framework costs, and in which order a package's versions are preferred.

Order of cost: nothing < another index of the same version < patch < minor < major; up before down;
what nobody measured after what is known. Costs are vectors that add up over several frameworks and
compare from the left, so that one major outweighs any number of minors.
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
    source: int = 0
    """Comes from another index."""
    down: int = 0
    distance: int = 0
    """How many known releases lie between, which orders moves of the same kind."""


FREE = Cost()


def plus(left: Cost, right: Cost) -> Cost:
    """The cost of both moves together."""
    return Cost(*(a + b for a, b in zip(left, right, strict=True)))


def cost(before: Version, after: Version, *, known: bool, same_index: bool, distance: int) -> Cost:
    """The cost of moving one package from `before` to `after`.

    `distance` is the number of releases between both; `known` whether the release's code was
    measured or documented.
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
    )
