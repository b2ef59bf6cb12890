"""Answers resolvelib's questions about the stack.

What a key stands for, and which candidates resolvelib is told of, is said by the keys in `terms`.
Packages outside the stack have a single candidate as long as what is asked of them can be satisfied
at all: uv picks their version later.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from resolvelib import BaseReporter, Resolver
from resolvelib.providers import AbstractProvider
from resolvelib.resolvers import Result
from resolvelib.structs import RequirementInformation

from stackfix.solve.candidates import Candidates
from stackfix.solve.terms import (
    AnyCandidate,
    AnyRequirement,
    Candidate,
    Claim,
    Key,
    PackageKey,
    Placeholder,
    StackRequirement,
)
from stackfix_knowledge.stack.packages import Role

__all__ = ["Cause", "StackProvider", "resolved"]

ROUNDS = 2000
"""Steps after which a combination counts as unsolvable; real stacks need a few dozen."""

ENOUGH = 8
"""Candidates counted before a package counts as one with many."""

_ROLES = {Role.FRAMEWORK: 0, Role.COMPANION: 1, Role.LIBRARY: 2}

Cause: TypeAlias = "RequirementInformation[AnyRequirement, AnyCandidate]"
"""A requirement, and the candidate that makes it; None: it is one of the roots."""


def resolved(
    candidates: Candidates,
    requirements: Iterable[AnyRequirement],
    refused: Container[tuple[str, Version]] = (),
) -> Result[AnyRequirement, AnyCandidate, Key]:
    """What resolvelib makes of requirements; `refused` releases are no candidates this time.

    Raises:
        ResolutionImpossible: some of them exclude each other.
        ResolutionTooDeep: no end was seen after ROUNDS steps.
    """
    provider = StackProvider(candidates, refused)
    resolver: Resolver[AnyRequirement, AnyCandidate, Key] = Resolver(provider, BaseReporter())
    return resolver.resolve(requirements, max_rounds=ROUNDS)


class StackProvider(AbstractProvider[AnyRequirement, AnyCandidate, Key]):
    """The candidates as resolvelib sees them."""

    def __init__(
        self, candidates: Candidates, refused: Container[tuple[str, Version]] = ()
    ) -> None:
        self._problem = candidates.problem
        self._candidates = candidates
        self._refused = refused

    def identify(self, requirement_or_candidate: AnyRequirement | AnyCandidate) -> Key:
        return requirement_or_candidate.key

    def get_preference(
        self,
        identifier: Key,
        resolutions: Mapping[Key, AnyCandidate],
        candidates: Mapping[Key, Iterator[AnyCandidate]],
        information: Mapping[Key, Iterator[Cause]],
        backtrack_causes: Sequence[object],
    ) -> tuple[bool, int, int, str]:
        """What has no way left, then frameworks before what follows them, the fewest ways first.

        Frameworks exclude each other through what they drag in, which is known as soon as they
        are chosen; libraries chosen before would only be chosen again. A companion that no choice
        fits any more (torchaudio, where none is for this torch) ends the branch at once: found
        last, all that was chosen in between would be tried anew before torch is.
        """
        role = len(_ROLES)
        if isinstance(identifier, PackageKey):
            package = self._problem.graph.packages.get(identifier.name)
            role = _ROLES[package.role] if package else role
        fitting = (c for c in candidates[identifier] if self._fits(c, resolutions, information))
        few = sum(1 for _ in islice(fitting, ENOUGH))
        return (few > 0, role, few, str(identifier))

    def _fits(
        self,
        candidate: AnyCandidate,
        resolutions: Mapping[Key, AnyCandidate],
        information: Mapping[Key, Iterator[Cause]],
    ) -> bool:
        """Whether what a candidate asks for agrees with all that is chosen already."""
        for requirement in self.get_dependencies(candidate):
            if isinstance(requirement, Claim):
                rivals = (cause.requirement for cause in information.get(requirement.key, ()))
                if any(isinstance(r, Claim) and r.owner != requirement.owner for r in rivals):
                    return False
                continue
            chosen = resolutions.get(requirement.key)
            if chosen is not None and not self.is_satisfied_by(requirement, chosen):
                return False
        return True

    def find_matches(
        self,
        identifier: Key,
        requirements: Mapping[Key, Iterator[AnyRequirement]],
        incompatibilities: Mapping[Key, Iterator[AnyCandidate]],
    ) -> list[AnyCandidate]:
        asked = list(requirements[identifier])
        found: Iterable[AnyCandidate]
        if not isinstance(identifier, PackageKey):
            owners = {claim.owner for claim in asked if isinstance(claim, Claim)}
            found = [Placeholder(identifier)] if len(owners) == 1 else []
        else:
            on_package = [one for one in asked if isinstance(one, StackRequirement)]
            if self._problem.is_stack(identifier.name):
                found = self._versions(identifier, on_package)
            else:
                possible = self._is_possible_outside(identifier.name, on_package)
                found = [Placeholder(identifier)] if possible else []
        incompatible = set(incompatibilities[identifier])
        return [candidate for candidate in found if candidate not in incompatible]

    def is_satisfied_by(self, requirement: AnyRequirement, candidate: AnyCandidate) -> bool:
        if isinstance(requirement, Claim) or isinstance(candidate, Placeholder):
            return True  # else there were no candidate
        return self._specifier(requirement).contains(candidate.version, prereleases=True)

    def get_dependencies(self, candidate: AnyCandidate) -> Iterable[AnyRequirement]:
        if isinstance(candidate, Placeholder):
            return ()
        return self._candidates.dependencies(candidate)

    def _specifier(self, requirement: StackRequirement) -> SpecifierSet:
        return self._problem.overrides.get(requirement.name, requirement.specifier)

    def _is_possible_outside(self, name: str, requirements: list[StackRequirement]) -> bool:
        """Whether uv may find a version of a package outside the stack that meets them all.

        What is asked by packages that stay was met before, and is no reason now.
        """
        moved = [one.specifier for one in requirements if not one.unmoved]
        override = self._problem.overrides.get(name)
        if override is not None:
            return all(not (specifier & override).is_unsatisfiable() for specifier in moved)
        if not moved:
            return True
        joint = SpecifierSet()
        for specifier in moved:
            joint &= specifier
        for requirement in self._problem.declared.get(name, ()):
            joint &= requirement.specifier
        return not joint.is_unsatisfiable()

    def _versions(
        self, key: PackageKey, requirements: list[StackRequirement]
    ) -> Sequence[Candidate]:
        """The versions of a package that meet all requirements, the preferred first."""
        specifiers = {self._specifier(requirement) for requirement in requirements}
        required = self._problem.required.get(key.name)
        if required is not None:
            specifiers.add(required)
        found = [
            candidate
            for candidate in self._candidates.promising(key, frozenset(specifiers))
            if (key.name, candidate.version) not in self._refused
        ]
        if not found:
            unrecorded = self._candidates.unrecorded(key.name, specifiers)
            if unrecorded is not None:
                return [Candidate(key, unrecorded, None)]
        return found
