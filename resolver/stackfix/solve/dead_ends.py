"""Versions that can be part of no solution, whatever stands beside them.

A version is hopeless when one thing that it asks for can't be had: no choice of that package meets
the demand, or each that does is hopeless itself. The solver would find the same by trying
everything else first, and for a package with a hundred versions that is minutes: every torch with
every flashinfer with every library below it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from stackfix.solve.problem import Problem, StackRequirement
from stackfix_knowledge.wheels.release import Release

if TYPE_CHECKING:
    from stackfix.solve.candidates import Candidates

__all__ = ["DeadEnds"]


class DeadEnds:
    """Answers for one problem, worked out when first asked for."""

    def __init__(self, problem: Problem, domain: Candidates) -> None:
        self._problem = problem
        self._domain = domain
        self._known: dict[tuple[str, Version], str | None] = {}

    def reason(self, key: str, version: Version, release: Release | None) -> str | None:
        """Why a version (with the extra that `key` names) is in no solution; None: it may be."""
        place = (key, version)
        if place in self._known:
            return self._known[place]
        self._known[place] = None  # in a circle, each is taken to be possible
        found = None
        for demand in self._domain.demands(key, version, release):
            if demand.owner is None and self._problem.is_stack(demand.name):
                found = self._unmet(demand)
                if found is not None:
                    break
        self._known[place] = found
        return found

    def _unmet(self, demand: StackRequirement) -> str | None:
        """Why a demand can't be met by any choice; None: it can, as far as this tells."""
        problem, domain, name = self._problem, self._domain, demand.name
        asked = [problem.overrides.get(name, demand.specifier)]
        if name in problem.required:
            asked.append(problem.required[name])
        inner = None
        for choice in domain.candidates(demand.key, asked):
            inner = self.reason(demand.key, choice.version, choice.release)
            if inner is None:
                return None
        if inner is not None:
            return inner
        if domain.unrecorded(name, asked) is not None:
            return None
        faults = [
            reason
            for version, reason in domain.refused(name).items()
            if all(specifier.contains(version, prereleases=True) for specifier in asked)
        ]
        said = f"{demand.origin} needs {demand}"
        return f"{said}, but {faults[0]}" if faults else f"{said}, and no known release of it fits"
