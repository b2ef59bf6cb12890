"""The search: combinations of framework versions in order of cost, each completed by resolvelib.

Every framework version is first tried alone, the other frameworks free: one that fails alone fails
in every combination and is left out of all of them, with its reason kept. The rest is enumerated
from the cheapest combination on, so the first that completes is the cheapest there is.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packaging.version import Version

from stackfix.solve.candidates import Candidates, Choice
from stackfix.solve.cost import FREE, Cost, plus
from stackfix.solve.explain import Conflict
from stackfix.solve.problem import Problem
from stackfix.solve.resolve import Solution, complete

__all__ = ["Failure", "Found", "Search"]

LIMIT = 3000
"""Combinations looked at before the search gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A framework version that cannot be part of any plan."""

    package: str
    version: Version
    reason: str
    lifts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A combination that works, with its cost."""

    chosen: Mapping[str, Version]
    solution: Solution
    cost: Cost
    problem: Problem
    """The problem that it was found in."""
    domain: Candidates


@dataclass
class Search:
    """One search; iterate `solutions` until one satisfies."""

    problem: Problem
    domain: Candidates
    newest: bool = False
    """Prefer the newest versions instead of the cheapest move."""
    failures: list[Failure] = field(default_factory=list)
    tried: int = 0

    def frameworks(self) -> list[str]:
        """The frameworks that the environments install, those with the fewest choices first.

        With variants exchanged, the project's own; a framework of another CUDA major that it does
        not ask for stays only if another package needs it.
        """
        problem, packages = self.problem, self.problem.graph.packages
        asked = dict.fromkeys(root.name for root in problem.roots)
        names = dict.fromkeys(problem.locked)
        if problem.exchange is not None:
            names = {
                name: None
                for name in (*problem.locked, *asked)
                if name in asked
                or (p := packages.get(name)) is None
                or p.cuda_major in {None, problem.exchange.cuda}
            }
        found = [
            name
            for name in names
            if (package := packages.get(name)) is not None
            and package.role == "framework"
            and problem.is_stack(name)
        ]
        return sorted(found, key=lambda name: (len(self.domain.choices(name)), name))

    def floor(self) -> Cost:
        """What no solution costs less than: each framework at its cheapest version by itself.

        With variants exchanged that version has to offer what is asked of it: jax 0.6 has no
        "cuda13", so that jax[cuda13] is never had at the price of the variant alone.
        """
        total = self.problem.price
        asked = [root.key for root in self.problem.roots]
        for name in self.frameworks() if not self.newest else ():
            keys = [key for key in asked if key.startswith(f"{name}[")]
            prices = [
                choice.cost
                for choice in self.domain.choices(name)
                if all(self.domain.offers(key, choice.release) for key in keys)
            ]
            total = plus(total, min(prices, default=FREE))
        return total

    def solutions(self) -> Iterator[Found]:
        """Working combinations, the cheapest first."""
        frameworks = self.frameworks()
        lanes = [_Lane(self, name) for name in frameworks]
        firsts = [lane.at(0) for lane in lanes]  # all of them: every lane tells its reasons
        if any(first is None for first in firsts):
            return
        start = (0,) * len(lanes)
        queue: list[tuple[Cost, tuple[int, ...]]] = [(self._price(lanes, start), start)]
        seen = {start}
        late: dict[tuple[int, ...], Solution] = {}
        for _ in range(LIMIT):
            if not queue:
                return
            price, places = heapq.heappop(queue)
            chosen = {
                lane.name: lane.choice(place).version
                for lane, place in zip(lanes, places, strict=True)
            }
            if places in late:
                yield self._found(chosen, late[places], price)
                continue
            self.tried += 1
            result = complete(self.problem, self.domain, chosen)
            if isinstance(result, Solution):
                unknown = self._unrecorded(result)
                if unknown:  # its turn comes after what is known
                    late[places] = result
                    heapq.heappush(queue, (plus(price, Cost(unknown=unknown)), places))
                else:
                    yield self._found(chosen, result, price)
            elif len(lanes) > 1:
                self._note(chosen, result)
            for index in range(len(lanes)):
                following = (*places[:index], places[index] + 1, *places[index + 1 :])
                if following not in seen and lanes[index].at(following[index]) is not None:
                    seen.add(following)
                    heapq.heappush(queue, (self._price(lanes, following), following))

    def _found(self, chosen: Mapping[str, Version], solution: Solution, price: Cost) -> Found:
        return Found(
            chosen=chosen, solution=solution, cost=price, problem=self.problem, domain=self.domain
        )

    def _unrecorded(self, solution: Solution) -> int:
        """How many packages move to where nobody read what they ask for.

        No facts are kept of the release, or of no wheel of it for the platform of some environment.
        """
        pieces = (piece for stack in solution.stacks for piece in stack)
        return len(
            {
                piece.name
                for piece in pieces
                if piece.package.judged
                and self.problem.locked.get(piece.name) != piece.version
                and (piece.wheel is None or piece.wheel.requires is None)
            }
        )

    def _price(self, lanes: Sequence[_Lane], places: tuple[int, ...]) -> Cost:
        total = self.problem.price
        for lane, place in zip(lanes, places, strict=True):
            total = plus(total, lane.price(place))
        return total

    def _note(self, chosen: Mapping[str, Version], conflict: Conflict) -> None:
        """Keep why a combination failed though each of its frameworks works alone."""
        names = ", ".join(f"{name} {version}" for name, version in chosen.items())
        first = next(iter(chosen))
        if len(self.failures) < 200:
            self.failures.append(
                Failure(
                    package=first,
                    version=chosen[first],
                    reason=f"together ({names}): {conflict.reason}",
                    lifts=conflict.lifts,
                )
            )


class _Lane:
    """The versions of one framework that work alone, found one by one, the preferred first."""

    def __init__(self, search: Search, name: str) -> None:
        self.name = name
        self._search = search
        choices = search.domain.choices(name)
        if search.newest:
            choices = tuple(sorted(choices, key=lambda c: (c.cost.unknown, *_newest(c.version))))
        held = search.problem.held.get(name)
        stays = f"; it stays as it is ({held})" if held else ""
        for version, reason in search.domain.refused(name).items():
            reason += stays
            search.failures.append(Failure(package=name, version=version, reason=reason))
        self._source = iter(choices)
        self._feasible: list[Choice] = []

    def at(self, place: int) -> Choice | None:
        while len(self._feasible) <= place:
            choice = next(self._source, None)
            if choice is None:
                return None
            result = complete(
                self._search.problem, self._search.domain, {self.name: choice.version}
            )
            if isinstance(result, Conflict):
                if result.about != self.name and result.about in self._search.frameworks():
                    continue  # that framework's own lane says why
                self._search.failures.append(
                    Failure(
                        package=self.name,
                        version=choice.version,
                        reason=result.reason,
                        lifts=result.lifts,
                    )
                )
            else:
                self._feasible.append(choice)
        return self._feasible[place]

    def choice(self, place: int) -> Choice:
        choice = self.at(place)
        assert choice is not None  # callers ask `at` first
        return choice

    def price(self, place: int) -> Cost:
        if self._search.newest:
            return Cost(unknown=self.choice(place).cost.unknown, distance=place)
        return self.choice(place).cost


def _newest(version: Version) -> tuple[int, ...]:
    return tuple(-part for part in (*version.release, 0, 0, 0)[:4])
