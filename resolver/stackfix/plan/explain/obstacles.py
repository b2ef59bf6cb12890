"""Why no plan exists: each framework version with its reason, grouped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from packaging.version import Version

from stackfix.plan.attempt import Rejected
from stackfix.plan.plan import Obstacle
from stackfix.solve.search import Exclusion

__all__ = ["grouped", "of_rejected", "stuck"]

SAME = 4
"""Rejections in a row for one reason, after which no further combination is tried."""


def grouped(exclusions: Iterable[Exclusion]) -> tuple[Obstacle, ...]:
    """Exclusions with the same reason as one obstacle, by package, the newest versions first."""
    groups: dict[tuple[str, str], list[Exclusion]] = {}
    for exclusion in exclusions:
        groups.setdefault((exclusion.package, _without(exclusion)), []).append(exclusion)
    obstacles = [
        Obstacle(
            package=package,
            versions=tuple(str(v) for v in sorted({f.version for f in group}, reverse=True)),
            reason=group[0].reason if len(group) == 1 else _without(group[0]),
            ways_out=tuple(dict.fromkeys(way for f in group for way in f.ways_out)),
        )
        for (package, _), group in groups.items()
    ]
    return tuple(sorted(obstacles, key=_order))


def _order(obstacle: Obstacle) -> tuple[str, Sequence[int]]:
    newest = Version(obstacle.versions[0])
    return (obstacle.package, [-part for part in newest.release])


def _without(exclusion: Exclusion) -> str:
    """The reason with the version taken out, so that the same fault of two versions reads alike."""
    version = re.escape(str(exclusion.version))
    bare = re.sub(rf"(?:(?:==|<=|>=){version}(?![\w.])(?:,(?=[<>=!~]))?)+", "", exclusion.reason)
    return re.sub(rf" {version}(?![\w.])", "", bare)


def of_rejected(rejected: Iterable[Rejected]) -> tuple[Obstacle, ...]:
    """Combinations that the solver found and uv, or the judgement afterwards, turned down.

    Those turned down for the same reason are one obstacle.
    """
    groups: dict[str, list[Rejected]] = {}
    for one in rejected:
        groups.setdefault(_shape(one.reason), []).append(one)
    return tuple(
        Obstacle(
            package=", ".join(group[0].chosen),
            versions=tuple(_versions(one) for one in group),
            reason=f"refused when relocked: {group[0].reason}",
        )
        for group in groups.values()
    )


def stuck(rejected: Sequence[Rejected]) -> bool:
    """Whether the last combinations all failed for one reason, so that more would as well."""
    last = rejected[-SAME:]
    return len(last) == SAME and len({_shape(one.reason) for one in last}) == 1


def _versions(rejected: Rejected) -> str:
    return ", ".join(str(version) for version in rejected.chosen.values())


def _shape(reason: str) -> str:
    """The reason without versions."""
    return re.sub(r"\d+(\.\d+)+[^\s,;]*", "…", reason)
