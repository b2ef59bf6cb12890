"""The search: combinations of framework versions in order of cost, each completed by resolvelib.

Every framework version is first tried alone, the other frameworks free: one that fails alone fails
in every combination and is left out of all of them, with its reason kept. The rest is enumerated
from the cheapest combination on, so the first that completes is the cheapest there is.

A project has several problems where more than one way is open: as it is, and with its variants
swapped. They are searched as one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from packaging.version import Version

from stackfix.solve.candidates import Candidates
from stackfix.solve.cost import FREE, Cost, plus
from stackfix.solve.explain import Conflict
from stackfix.solve.preference import VersionFindings
from stackfix.solve.problem import Problem
from stackfix.solve.resolve import Solution, complete
from stackfix.solve.terms import Candidate
from stackfix_knowledge.stack.packages import Role

__all__ = ["Combination", "Exclusion", "JointSearch", "Search"]

LIMIT = 3000
"""Combinations looked at before the search gives up."""

MOST_TOLD = 200
"""Exclusions kept before combinations that fail together are no longer told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """A framework version that cannot be part of any plan."""

    package: str
    version: Version
    reason: str
    ways_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """Framework versions that work together, with the stack that goes with them."""

    chosen: Mapping[str, Version]
    """The frameworks' versions."""
    solution: Solution
    cost: Cost
    candidates: Candidates

    @property
    def problem(self) -> Problem:
        """The problem that it was found in."""
        return self.candidates.problem


@dataclass
class Search:
    """One search; iterate `combinations` until one satisfies."""

    candidates: Candidates
    newest: bool = False
    """Prefer the newest versions instead of the cheapest move."""
    exclusions: list[Exclusion] = field(default_factory=list)
    tried: int = 0

    @property
    def problem(self) -> Problem:
        """What is searched."""
        return self.candidates.problem

    def frameworks(self) -> list[str]:
        """The frameworks that the environments install, those with the fewest candidates first.

        With variants swapped, the project's own; a framework of another CUDA major that it does
        not ask for stays only if another package needs it.
        """
        problem, packages = self.problem, self.problem.graph.packages
        names = dict.fromkeys(problem.locked)
        if problem.variant_swap is not None:
            asked = dict.fromkeys(root.name for root in problem.roots)
            names = {
                name: None
                for name in (*problem.locked, *asked)
                if name in asked
                or (p := packages.get(name)) is None
                or p.cuda_major in {None, problem.variant_swap.cuda}
            }
        found = [
            name
            for name in names
            if (package := packages.get(name)) is not None
            and package.role is Role.FRAMEWORK
            and problem.is_stack(name)
        ]
        return sorted(found, key=lambda name: (len(self.candidates.of(name)), name))

    def floor(self) -> Cost:
        """What no combination costs less than: each framework at its cheapest version by itself.

        With variants swapped that version has to offer what is asked of it: jax 0.6 has no
        "cuda13", so that jax[cuda13] is never had at the price of the variant alone.
        """
        total = self.problem.price
        for name in self.frameworks() if not self.newest else ():
            roots = (root.key for root in self.problem.roots if root.name == name)
            extras = [key for key in roots if key.extra]
            prices = [
                candidate.cost
                for candidate in self.candidates.of(name)
                if all(self.candidates.offers(key, candidate.release) for key in extras)
            ]
            total = plus(total, min(prices, default=FREE))
        return total

    def combinations(self) -> Iterator[Combination]:
        """Working combinations, the cheapest first."""
        frameworks = [_WorkingVersions(self, name) for name in self.frameworks()]
        firsts = [one.at(0) for one in frameworks]  # all of them: each tells its reasons
        if any(first is None for first in firsts):
            return
        start = (0,) * len(frameworks)
        queue: list[tuple[Cost, tuple[int, ...]]] = [(self._price(frameworks, start), start)]
        seen = {start}
        waiting: dict[tuple[int, ...], Solution] = {}
        for _ in range(LIMIT):
            if not queue:
                return
            price, places = heapq.heappop(queue)
            chosen = {
                one.name: one.candidate(place).version
                for one, place in zip(frameworks, places, strict=True)
            }
            if places in waiting:
                yield self._combination(chosen, waiting[places], price)
                continue
            self.tried += 1
            result = complete(self.candidates, chosen)
            if isinstance(result, Solution):
                unread = self._unread(result)
                if unread:  # its turn comes after what is known
                    waiting[places] = result
                    heapq.heappush(queue, (plus(price, Cost(unknown=unread)), places))
                else:
                    yield self._combination(chosen, result, price)
            elif len(frameworks) > 1:
                self._exclude(chosen, result)
            for index in range(len(frameworks)):
                following = (*places[:index], places[index] + 1, *places[index + 1 :])
                if following not in seen and frameworks[index].at(following[index]) is not None:
                    seen.add(following)
                    heapq.heappush(queue, (self._price(frameworks, following), following))

    def _combination(
        self, chosen: Mapping[str, Version], solution: Solution, price: Cost
    ) -> Combination:
        return Combination(chosen=chosen, solution=solution, cost=price, candidates=self.candidates)

    def _unread(self, solution: Solution) -> int:
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

    def _price(self, frameworks: Sequence[_WorkingVersions], places: tuple[int, ...]) -> Cost:
        total = self.problem.price
        for one, place in zip(frameworks, places, strict=True):
            total = plus(total, one.price(place))
        return total

    def _exclude(self, chosen: Mapping[str, Version], conflict: Conflict) -> None:
        """Keep why a combination failed though each of its frameworks works alone."""
        names = ", ".join(f"{name} {version}" for name, version in chosen.items())
        first = next(iter(chosen))
        if len(self.exclusions) < MOST_TOLD:
            self.exclusions.append(
                Exclusion(
                    package=first,
                    version=chosen[first],
                    reason=f"together ({names}): {conflict.reason}",
                    ways_out=conflict.ways_out,
                )
            )


class _WorkingVersions:
    """The versions of one framework that work alone, found one by one, the preferred first."""

    def __init__(self, search: Search, name: str) -> None:
        self.name = name
        self._search = search
        candidates = search.candidates.of(name)
        if search.newest:
            candidates = tuple(sorted(candidates, key=_newest))
        fixed = search.problem.fixed.get(name)
        stays = f"; it stays as it is ({fixed})" if fixed else ""
        for version, reason in search.candidates.refused(name).items():
            reason += stays
            search.exclusions.append(Exclusion(package=name, version=version, reason=reason))
        self._untried = iter(candidates)
        self._working: list[Candidate] = []

    def at(self, place: int) -> Candidate | None:
        """The working version at a place, from 0; None: there are no more."""
        while len(self._working) <= place:
            candidate = next(self._untried, None)
            if candidate is None:
                return None
            search, version = self._search, candidate.version
            result = complete(search.candidates, {self.name: version})
            if not isinstance(result, Conflict):
                self._working.append(candidate)
            elif result.about == self.name or result.about not in search.frameworks():
                search.exclusions.append(  # else that framework's own versions say why
                    Exclusion(
                        package=self.name,
                        version=version,
                        reason=result.reason,
                        ways_out=result.ways_out,
                    )
                )
        return self._working[place]

    def candidate(self, place: int) -> Candidate:
        """The working version at a place that `at` has found."""
        candidate = self.at(place)
        assert candidate is not None
        return candidate

    def price(self, place: int) -> Cost:
        """What the version at a place costs."""
        cost = self.candidate(place).cost
        return Cost(unknown=cost.unknown, distance=place) if self._search.newest else cost


def _newest(candidate: Candidate) -> tuple[int, ...]:
    """The newest known version first."""
    release = (*candidate.version.release, 0, 0, 0)[:4]
    return (candidate.cost.unknown, *(-part for part in release))


class JointSearch:
    """The combinations of some problems in order of cost; among equals, the first problem's.

    The problems have the same targets. One is only searched when everything cheaper than the least
    that a combination of it could cost was looked at: most projects never get to the second.
    """

    def __init__(self, problems: Sequence[Problem], *, newest: bool = False) -> None:
        self._searches: list[Search] = []
        findings: VersionFindings | None = None
        for problem in problems:
            candidates = Candidates(problem, findings=findings)
            findings = candidates.findings
            self._searches.append(Search(candidates, newest=newest))

    def combinations(self) -> Iterator[Combination]:
        """Working combinations, the cheapest first."""
        runs = [search.combinations() for search in self._searches]
        queue: list[tuple[Cost, int, Combination | None]] = []
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
    def exclusions(self) -> list[Exclusion]:
        """Why versions cannot be part of a plan; what only a swap meets with says so."""
        found: dict[Exclusion, None] = {}
        for search in self._searches:
            swap = search.problem.variant_swap
            for exclusion in search.exclusions:
                if exclusion in found:
                    continue
                if swap is not None:
                    exclusion = replace(exclusion, reason=f"with {swap}: {exclusion.reason}")
                found[exclusion] = None
        return list(found)
