"""Which versions of a package are candidates, in which order, and what each asks for.

Two answer that: the plan, which wants the nearest version that runs on every target, and uv, which
wants the newest that metadata admits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from stackfix.model.finding import Finding
from stackfix.rules.judge import judge_piece
from stackfix.rules.sf109_unmeasured import is_unknown
from stackfix.solve.cost import Cost, cost
from stackfix.solve.dependencies import Dependencies
from stackfix.solve.problem import Problem
from stackfix.solve.terms import AnyRequirement, Candidate, PackageKey
from stackfix_knowledge.wheels.release import Release, WheelFact

__all__ = ["PlanPreference", "Preference", "Ranking", "UvPreference", "VersionFindings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The versions of one package, as somebody prefers them."""

    candidates: tuple[Candidate, ...]
    """The preferred first."""
    refused: Mapping[Version, str] = field(default_factory=dict)
    """Versions that can't be chosen, each with the reason in words."""
    costs: Mapping[Version, Cost] = field(default_factory=dict)
    """The cost of every version that was looked at, refused ones included."""


class Preference(Protocol):
    """Who chooses: the plan, or uv."""

    def ranking(self, name: str) -> Ranking:
        """The versions of a package."""

    def dependencies(self, candidate: Candidate) -> Iterable[AnyRequirement]:
        """What a version asks of others."""


class VersionFindings:
    """What the rules say about single versions, whatever stands beside them.

    The answers hold for every problem with the same graph and environments.
    """

    def __init__(self, problem: Problem) -> None:
        self._graph = problem.graph
        self._environments = problem.environments
        self._known: dict[tuple[str, Version], list[Finding]] = {}

    def of(self, name: str, version: Version) -> list[Finding]:
        """The findings about a version of a package, on all environments."""
        found = self._known.get((name, version))
        if found is None:
            found = self._known[name, version] = list(self._judged(name, version))
        return found

    def _judged(self, name: str, version: Version) -> Iterator[Finding]:
        package = self._graph.packages.get(name)
        if package is None:
            return
        for environment in self._environments:
            piece = environment.piece(self._graph, package, version)
            yield from judge_piece(piece, environment.target, self._graph)


class PlanPreference:
    """What a plan would choose: the cheapest move first, and nothing with an error of its own."""

    def __init__(self, problem: Problem, findings: VersionFindings) -> None:
        self._problem = problem
        self._findings = findings
        self._dependencies = Dependencies(problem)

    def dependencies(self, candidate: Candidate) -> Iterator[AnyRequirement]:
        return self._dependencies.all(candidate)

    def ranking(self, name: str) -> Ranking:
        problem, refused = self._problem, dict[Version, str]()
        locked = problem.locked.get(name)
        releases = []
        for release in problem.graph.releases(name):
            if self._is_eligible(release, locked):
                reason = self._closed(release, locked)
                if reason is None:
                    releases.append(release)
                else:
                    refused[release.version] = reason
        if name in problem.fixed:
            releases = [release for release in releases if release.version == locked]
        priced = list(self._priced(name, releases))
        order = sorted(priced, key=lambda one: (one.cost, self._cuda_distance(one, locked)))
        if locked is not None and all(release.version != locked for release in releases):
            unrecorded = Candidate(PackageKey(name), locked, None, Cost(unknown=1))
            priced.insert(0, unrecorded)
            order.insert(0, unrecorded)
        candidates = []
        for candidate in order:
            faults = problem.policy.faults(self._findings.of(name, candidate.version))
            if faults:
                refused[candidate.version] = faults[0].message
            else:
                candidates.append(candidate)
        costs = {candidate.version: candidate.cost for candidate in priced}
        return Ranking(candidates=tuple(candidates), refused=refused, costs=costs)

    def _is_eligible(self, release: Release, locked: Version | None) -> bool:
        """Whether a release may be looked at."""
        if release.version == locked:
            return True
        same_index = release.home == _index_of(locked)
        return (same_index or self._is_open(release)) and _is_installable(self._problem, release)

    def _is_open(self, release: Release) -> bool:
        """Whether a release of another index than the package's present one may be looked at."""
        problem = self._problem
        movable = release.package in problem.graph.packages.on_pytorch_indexes
        return movable and release.home in problem.index_choice.open

    def _closed(self, release: Release, locked: Version | None) -> str | None:
        """Why a release can't be taken from its index; None: it can."""
        if release.version == locked:
            return None
        if release.package not in self._problem.graph.packages.on_pytorch_indexes:
            return None
        if release.home is None and _index_of(locked) is None:
            return None
        return self._problem.index_choice.closed.get(release.home)

    def _priced(self, name: str, releases: Sequence[Release]) -> Iterator[Candidate]:
        """The releases as candidates, each with the cost of moving there."""
        problem, key = self._problem, PackageKey(name)
        start, locked = problem.start(name), problem.locked.get(name)
        order = sorted(
            {Version(r.version.public) for r in releases} | ({start} if start else set())
        )
        places = {version: place for place, version in enumerate(order)}
        for release in releases:
            version, known = release.version, self._is_known(release)
            place = places[Version(version.public)]
            if start is None:
                price = Cost(unknown=int(not known), distance=len(order) - place)
            else:
                same_index = version.local == start.local
                price = cost(
                    start,
                    version,
                    known=known or version == locked,
                    same_index=same_index,
                    new_index=not same_index and release.home not in problem.index_choice.named,
                    distance=abs(place - places.get(start, 0)),
                )
            yield Candidate(key, version, release, price)

    def _is_known(self, release: Release) -> bool:
        """Whether it is known what the release runs on, and what it asks for, on every target."""
        package = self._problem.graph.packages.get(release.package)
        if package is None or not package.judged:
            return True
        for environment in self._problem.environments:
            piece = environment.piece(self._problem.graph, package, release.version)
            if piece.wheel is None or piece.wheel.requires is None:
                return False
            if is_unknown(piece, environment.target):
                return False
        return True

    def _cuda_distance(self, candidate: Candidate, locked: Version | None) -> int:
        """How far a build's CUDA is from the usual one: of equal moves, the nearest comes first."""
        name, version = candidate.name, candidate.version
        if version.local is None:
            return 0
        own = self._cuda(name, version)
        usual = self._cuda(name, locked) or self._cuda(name, Version(version.public))
        if own is None or usual is None:
            return 0
        return abs((own.major - usual.major) * 100 + own.minor - usual.minor)

    def _cuda(self, name: str, version: Version | None) -> Version | None:
        """The CUDA of a release's build for the environments' platforms, where it is known."""
        release = self._problem.graph.release(name, version) if version is not None else None
        wheels = self._problem.wheels(release).values()
        return next((wheel.cuda for wheel in wheels if wheel.cuda is not None), None)


class UvPreference:
    """What uv would choose: the newest version, with nothing but metadata to hold it.

    Each package keeps coming from the index that it comes from in `versions`.
    """

    def __init__(self, problem: Problem, versions: Mapping[str, Version]) -> None:
        self._problem = problem
        self._versions = versions
        self._dependencies = Dependencies(problem)

    def dependencies(self, candidate: Candidate) -> Iterator[AnyRequirement]:
        return self._dependencies.stated(candidate)

    def ranking(self, name: str) -> Ranking:
        problem, key = self._problem, PackageKey(name)
        locked = problem.locked.get(name)
        present = self._versions.get(name, locked)
        releases = [
            release
            for release in problem.graph.releases(name)
            if release.home == _index_of(present)
            and (release.version == present or _is_installable(problem, release))
            and (name not in problem.fixed or release.version == locked)
        ]
        candidates = [
            Candidate(key, release.version, release, Cost(distance=place))
            for place, release in enumerate(reversed(releases))
        ]
        if locked is not None and all(release.version != locked for release in releases):
            candidates.append(Candidate(key, locked, None, Cost(unknown=1)))
        return Ranking(candidates=tuple(candidates))


def _index_of(version: Version | None) -> str | None:
    """The index of PyTorch's that a version comes from; None: the default one."""
    return version.local if version is not None else None


def _is_installable(problem: Problem, release: Release) -> bool:
    """Whether any resolver may take a release: not yanked, no pre-release, for these targets."""
    if release.yanked or release.version.is_prerelease:
        return False
    if release.home is not None and not _is_built(problem, release):
        return False
    return all(_runs_on_python(problem, wheel) for wheel in release.wheels)


def _is_built(problem: Problem, release: Release) -> bool:
    """Whether a build of PyTorch's indexes is documented for every target that has the package.

    Nobody lists those indexes here; one that no document names for a platform is most likely not
    there, and uv could only refuse it.
    """
    installing = [
        environment
        for environment in problem.environments
        if problem.installs(environment, release.package)
    ]
    return all(
        release.wheel(environment.platform) is not None
        for environment in installing or problem.environments
    )


def _runs_on_python(problem: Problem, wheel: WheelFact) -> bool:
    if not wheel.requires_python:
        return True
    try:
        return SpecifierSet(wheel.requires_python).contains(problem.python)
    except InvalidSpecifier:
        return True
