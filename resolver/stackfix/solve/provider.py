"""Answers resolvelib's questions about the stack.

Keys are package names ("torch"), extras ("jax[cuda12]", whose candidates drag the same version of
the base in), contested files ("file:…", whose one candidate is their owner) and packages outside
the stack, which have a single candidate as long as what is asked of them can be satisfied at all:
uv picks their version later.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from resolvelib.providers import AbstractProvider

from stackfix.solve.candidates import Candidates
from stackfix.solve.problem import Asked, Problem, StackRequirement
from stackfix_knowledge.stack.packages import Role
from stackfix_knowledge.wheels.release import Release

__all__ = ["Candidate", "StackProvider"]

ENOUGH = 8
"""Candidates counted before a package counts as one with many."""

_ROLES = {Role.FRAMEWORK: 0, Role.COMPANION: 1, Role.LIBRARY: 2}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to satisfy a key."""

    key: str
    version: Version | None = None
    """None for files and for packages outside the stack."""
    release: Release | None = None

    @property
    def name(self) -> str:
        return self.key.partition("[")[0]

    def __str__(self) -> str:
        return f"{self.key} {self.version}" if self.version else self.key

    def __hash__(self) -> int:
        return hash((self.key, self.version))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Candidate) and self.key == other.key and self.version == other.version
        )


class StackProvider(AbstractProvider[StackRequirement, Candidate, str]):
    """The domain as resolvelib sees it."""

    def __init__(
        self, problem: Problem, domain: Candidates, refused: Container[tuple[str, Version]] = ()
    ) -> None:
        """`refused`: releases that are no candidates this time."""
        self._problem = problem
        self._domain = domain
        self._refused = refused

    def identify(self, requirement_or_candidate: StackRequirement | Candidate) -> str:
        return requirement_or_candidate.key

    def get_preference(
        self,
        identifier: str,
        resolutions: Mapping[str, Candidate],
        candidates: Mapping[str, Iterator[Candidate]],
        information: Mapping[str, Iterator[Asked]],
        backtrack_causes: Sequence[object],
    ) -> tuple[bool, int, int, str]:
        """What has no way left, then frameworks before what follows them, the fewest ways first.

        Frameworks exclude each other through what they drag in, which is known as soon as they
        are chosen; libraries chosen before would only be chosen again. A companion that no choice
        fits any more (torchaudio, where none is for this torch) ends the branch at once: found
        last, all that was chosen in between would be tried anew before torch is.
        """
        package = self._problem.graph.packages.get(identifier.partition("[")[0])
        role = _ROLES.get(package.role, len(_ROLES)) if package else len(_ROLES)
        fitting = (c for c in candidates[identifier] if self._fits(c, resolutions, information))
        few = sum(1 for _ in islice(fitting, ENOUGH))
        return (few > 0, role, few, identifier)

    def _fits(
        self,
        candidate: Candidate,
        resolutions: Mapping[str, Candidate],
        information: Mapping[str, Iterator[Asked]],
    ) -> bool:
        """Whether what a candidate asks for agrees with all that is chosen already."""
        for demand in self.get_dependencies(candidate):
            if demand.owner is not None:
                rivals = information.get(demand.key, ())
                if any(asked.requirement.owner != demand.owner for asked in rivals):
                    return False
                continue
            chosen = resolutions.get(demand.key)
            if chosen is not None and not self.is_satisfied_by(demand, chosen):
                return False
        return True

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[StackRequirement]],
        incompatibilities: Mapping[str, Iterator[Candidate]],
    ) -> list[Candidate]:
        demands = list(requirements[identifier])
        refused = set(incompatibilities[identifier])
        if demands[0].owner is not None:
            found = self._owners(identifier, demands)
        elif not self._problem.is_stack(demands[0].name):
            found = self._outside(identifier, demands)
        else:
            found = self._releases(identifier, demands)
        return [candidate for candidate in found if candidate not in refused]

    def is_satisfied_by(self, requirement: StackRequirement, candidate: Candidate) -> bool:
        if requirement.owner is not None:
            return candidate.version is None and candidate.key == requirement.key
        if candidate.version is None:
            return True
        return self._specifier(requirement).contains(candidate.version, prereleases=True)

    def get_dependencies(self, candidate: Candidate) -> Iterable[StackRequirement]:
        if candidate.version is None:
            return ()
        return self._domain.demands(candidate.key, candidate.version, candidate.release)

    def _specifier(self, demand: StackRequirement) -> SpecifierSet:
        return self._problem.overrides.get(demand.name, demand.specifier)

    def _owners(self, identifier: str, demands: list[StackRequirement]) -> list[Candidate]:
        owners = {demand.owner for demand in demands}
        return [Candidate(identifier)] if len(owners) == 1 else []

    def _outside(self, identifier: str, demands: list[StackRequirement]) -> list[Candidate]:
        name = demands[0].name
        override = self._problem.overrides.get(name)
        if override is not None:
            moved = [d for d in demands if not d.unmoved]
            agree = all(not (d.specifier & override).is_unsatisfiable() for d in moved)
            return [Candidate(identifier)] if agree else []
        asked = [d.specifier for d in demands if not d.unmoved]
        if not asked:
            return [Candidate(identifier)]
        joint = SpecifierSet()
        for specifier in asked:
            joint &= specifier
        for demand in self._problem.declared.get(name, ()):
            joint &= demand.specifier
        return [] if joint.is_unsatisfiable() else [Candidate(identifier)]

    def _releases(self, identifier: str, demands: list[StackRequirement]) -> list[Candidate]:
        name = demands[0].name
        asked = {self._specifier(demand) for demand in demands}
        required = self._problem.required.get(name)
        if required is not None:
            asked.add(required)
        found = [
            Candidate(identifier, choice.version, choice.release)
            for choice in self._domain.matching(identifier, frozenset(asked))
            if (name, choice.version) not in self._refused
        ]
        if not found and (pinned := self._domain.unrecorded(name, asked)) is not None:
            return [Candidate(identifier, pinned)]
        return found
