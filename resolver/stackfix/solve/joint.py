"""Searches of several problems as one: the project as it is, and with its variants exchanged."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import replace

from stackfix.solve.candidates import Candidates
from stackfix.solve.cost import Cost
from stackfix.solve.problem import Problem
from stackfix.solve.search import Failure, Found, Search

__all__ = ["Joint"]


class Joint:
    """The solutions of some problems in order of cost; among equals, those of the first problem.

    The problems have the same targets. One is only searched when everything cheaper than the least
    that a solution of it could cost was looked at: most projects never get to the second.
    """

    def __init__(self, problems: Sequence[Problem], *, newest: bool = False) -> None:
        self._searches: list[Search] = []
        beside: Candidates | None = None
        for problem in problems:
            beside = Candidates(problem, beside)
            self._searches.append(Search(problem, beside, newest=newest))

    def solutions(self) -> Iterator[Found]:
        """Working combinations, the cheapest first."""
        runs = [search.solutions() for search in self._searches]
        queue: list[tuple[Cost, int, Found | None]] = []
        for number, search in enumerate(self._searches):
            heapq.heappush(queue, (search.problem.price, number, None))
        weighed: set[int] = {0}  # the first problem is searched in any case
        while queue:
            price, number, found = heapq.heappop(queue)
            if found is not None:
                yield found
            elif number not in weighed:
                weighed.add(number)
                floor = self._searches[number].floor()
                if floor > price:
                    heapq.heappush(queue, (floor, number, None))
                    continue
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
            exchange = search.problem.exchange
            for failure in search.failures:
                if failure in found:
                    continue
                if exchange is not None:
                    failure = replace(failure, reason=f"with {exchange}: {failure.reason}")
                found[failure] = None
        return list(found)
