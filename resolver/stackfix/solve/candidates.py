"""The candidates of every stack package: which fit what is asked, and which lead nowhere.

A version that has an error on some target by itself never becomes a candidate; the findings are
kept, so that an impossible plan can say why. One that is in no solution, whatever stands beside it,
is a dead end: one thing that it asks for can't be had, since no candidate of that package meets
the requirement, or each that does is a dead end itself. The solver would find the same by trying
everything else first, and for a package with a hundred versions that is minutes: every torch with
every flashinfer with every library below it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.solve.cost import Cost
from stackfix.solve.dependencies import Dependencies
from stackfix.solve.preference import PlanPreference, Preference, Ranking, VersionFindings
from stackfix.solve.problem import Problem
from stackfix.solve.specifier import pinned
from stackfix.solve.terms import (
    AnyRequirement,
    Candidate,
    PackageKey,
    StackRequirement,
)
from stackfix_knowledge.stack.packages import Role
from stackfix_knowledge.wheels.release import Release

__all__ = ["Candidates"]


class Candidates:
    """The candidates for one problem, worked out when first asked for.

    `preference` says who chooses: the plan, unless given. `findings` about single versions may come
    from a problem with the same graph and environments.
    """

    def __init__(
        self,
        problem: Problem,
        preference: Preference | None = None,
        findings: VersionFindings | None = None,
    ) -> None:
        self.problem = problem
        self.findings = findings or VersionFindings(problem)
        self._preference = preference or PlanPreference(problem, self.findings)
        self._offers = Dependencies(problem).offers
        self._rankings: dict[str, Ranking] = {}
        self._dependencies: dict[Candidate, tuple[AnyRequirement, ...]] = {}
        self._versions: dict[tuple[str, SpecifierSet], frozenset[Version]] = {}
        self._promising: dict[
            tuple[PackageKey, frozenset[SpecifierSet]], tuple[Candidate, ...]
        ] = {}
        self._dead_ends: dict[Candidate, str | None] = {}

    def _ranking(self, name: str) -> Ranking:
        found = self._rankings.get(name)
        if found is None:
            found = self._rankings[name] = self._preference.ranking(name)
        return found

    def of(self, name: str) -> tuple[Candidate, ...]:
        """The versions of a package that may be chosen, the preferred first."""
        return self._ranking(name).candidates

    def costs(self, name: str) -> Mapping[Version, Cost]:
        """The cost of every version that was looked at, refused ones included."""
        return self._ranking(name).costs

    def refused(self, name: str) -> Mapping[Version, str]:
        """Versions that can't be chosen, each with the reason in words."""
        return self._ranking(name).refused

    def at(self, name: str, version: Version) -> Candidate:
        """A version of a package as the graph knows it, whether it may be chosen or not."""
        return Candidate(PackageKey(name), version, self.problem.graph.release(name, version))

    def admitted(self, key: PackageKey, specifiers: Iterable[SpecifierSet]) -> Iterator[Candidate]:
        """The candidates for a key that all specifiers admit, the preferred first."""
        admitting = [self._admitted(key.name, specifier) for specifier in specifiers]
        for candidate in self.of(key.name):
            fits = all(candidate.version in versions for versions in admitting)
            if fits and self.offers(key, candidate.release):
                yield replace(candidate, key=key) if key.extra else candidate

    def promising(
        self, key: PackageKey, specifiers: frozenset[SpecifierSet]
    ) -> tuple[Candidate, ...]:
        """The candidates for a key that all specifiers admit and that are no dead ends."""
        found = self._promising.get((key, specifiers))
        if found is None:
            found = self._promising[key, specifiers] = tuple(
                candidate
                for candidate in self.admitted(key, specifiers)
                if self.dead_end(candidate) is None
            )
        return found

    def _admitted(self, name: str, specifier: SpecifierSet) -> frozenset[Version]:
        """The versions that a specifier admits; asked again and again by the solve."""
        found = self._versions.get((name, specifier))
        if found is None:
            versions = [candidate.version for candidate in self.of(name)]
            found = frozenset(specifier.filter(versions, prereleases=True))
            self._versions[name, specifier] = found
        return found

    def unrecorded(self, name: str, specifiers: Collection[SpecifierSet]) -> Version | None:
        """The version that exact pins ask for and no facts are kept of; None: there is none such.

        Facts do not list every release of every library. One that a framework pins is there, and
        unknown; a framework nobody recorded stays out, since nothing tells what it asks for.
        """
        package = self.problem.graph.packages.get(name)
        if package is None or package.role is Role.FRAMEWORK or name in self.problem.fixed:
            return None
        pins = {pinned(specifier) for specifier in specifiers} - {None}
        if len(pins) != 1:
            return None
        (version,) = pins
        if version is None or not all(s.contains(version, prereleases=True) for s in specifiers):
            return None
        recorded = {Version(r.version.public) for r in self.problem.graph.releases(name)}
        return None if version in recorded else version

    def offers(self, key: PackageKey, release: Release | None) -> bool:
        """Whether a release has the extra that a key names."""
        return self._offers(key, release)

    def dependencies(self, candidate: Candidate) -> tuple[AnyRequirement, ...]:
        """What a version asks of others."""
        found = self._dependencies.get(candidate)
        if found is None:
            found = tuple(self._preference.dependencies(candidate))
            self._dependencies[candidate] = found
        return found

    def dead_end(self, candidate: Candidate) -> str | None:
        """Why a version is in no solution, whatever stands beside it; None: it may be in one."""
        if candidate in self._dead_ends:
            return self._dead_ends[candidate]
        self._dead_ends[candidate] = None  # in a circle, each is taken to be possible
        found = None
        for requirement in self.dependencies(candidate):
            if not isinstance(requirement, StackRequirement):
                continue
            if self.problem.is_stack(requirement.name):
                found = self._unmet(requirement)
                if found is not None:
                    break
        self._dead_ends[candidate] = found
        return found

    def _unmet(self, requirement: StackRequirement) -> str | None:
        """Why no candidate can meet a requirement; None: one can, as far as this tells."""
        problem, name = self.problem, requirement.name
        specifiers = [problem.overrides.get(name, requirement.specifier)]
        if name in problem.required:
            specifiers.append(problem.required[name])
        reason = None
        for candidate in self.admitted(requirement.key, specifiers):
            reason = self.dead_end(candidate)
            if reason is None:
                return None
        if reason is not None:
            return reason
        if self.unrecorded(name, specifiers) is not None:
            return None
        faults = (
            fault
            for version, fault in self.refused(name).items()
            if all(specifier.contains(version, prereleases=True) for specifier in specifiers)
        )
        why = next(faults, None)
        said = f"{requirement.origin} needs {requirement}"
        return f"{said}, but {why}" if why else f"{said}, and no known release of it fits"
