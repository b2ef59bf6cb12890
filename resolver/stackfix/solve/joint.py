"""Searches of several worlds as one: the project as it is, and with its variants exchanged."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import replace

from stackfix.solve.cost import FREE, Cost
from stackfix.solve.domain import Domain
from stackfix.solve.search import Failure, Found, Search
from stackfix.solve.world import World

__all__ = ["Joint"]


class Joint:
    """The solutions of some worlds in order of cost; among equals, those of the first world.

    No solution of a world costs less than its exchange, so a world is only searched when
    everything cheaper than that was looked at: most projects never get there.
    """

    def __init__(self, worlds: Sequence[World], *, newest: bool = False) -> None:
        self._searches = [Search(world, Domain(world), newest=newest) for world in worlds]

    def solutions(self) -> Iterator[Found]:
        """Working combinations, the cheapest first."""
        runs = [search.solutions() for search in self._searches]
        queue: list[tuple[Cost, int, Found | None]] = [
            (_floor(search.world), number, None) for number, search in enumerate(self._searches)
        ]
        heapq.heapify(queue)
        while queue:
            _, number, found = heapq.heappop(queue)
            if found is not None:
                yield found
            following = next(runs[number], None)
            if following is not None:
                heapq.heappush(queue, (following.cost, number, following))

    @property
    def tried(self) -> int:
        """Combinations looked at."""
        return sum(search.tried for search in self._searches)

    @property
    def failures(self) -> list[Failure]:
        """Why versions cannot be part of a plan; what only an exchange meets with says so."""
        found: dict[Failure, None] = {}
        for search in self._searches:
            exchange = search.world.exchange
            for failure in search.failures:
                if failure in found:
                    continue
                if exchange is not None:
                    failure = replace(failure, reason=f"with {exchange}: {failure.reason}")
                found[failure] = None
        return list(found)


def _floor(world: World) -> Cost:
    return world.exchange.price if world.exchange is not None else FREE
