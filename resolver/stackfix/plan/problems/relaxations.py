"""The problems to search: the project as it is, and with more of it set aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from stackfix.model.finding import Finding
from stackfix.plan.lock_state import LockState
from stackfix.plan.problems.project import project_problem
from stackfix.plan.problems.variants import VariantProblems, variant_problems
from stackfix.plan.request import Request
from stackfix.rules.sf503_override import Override
from stackfix.solve.problem import IndexChoice, Problem
from stackfix.solve.search import Exclusion, JointSearch
from stackfix.solve.terms import StackRequirement

__all__ = ["Relaxation", "at_fault", "relaxations"]


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Problems that are searched together, in order of cost."""

    problems: tuple[VariantProblems, ...]
    last_resort: bool = False
    """Pins of libraries are overridden: only where nothing else works, however little is known."""

    @property
    def exclusions(self) -> list[Exclusion]:
        """Variants that cannot be swapped, each with the reason."""
        return list(dict.fromkeys(found for one in self.problems for found in one.exclusions))

    def search(self, *, newest: bool = False) -> JointSearch:
        """The search of all of them."""
        return JointSearch([problem for one in self.problems for problem in one.all], newest=newest)


def at_fault(faults: Iterable[Finding]) -> frozenset[str]:
    """The packages whose override is a fault by itself."""
    return frozenset(fault.package for fault in faults if fault.code == Override.code)


def relaxations(
    request: Request,
    lock_state: LockState,
    requirements: Sequence[StackRequirement],
    index_choice: IndexChoice,
    suspects: frozenset[str] = frozenset(),
) -> Iterator[Relaxation]:
    """What to search for these environments, one after another.

    First the project as it is: with all its overrides, or without those on `suspects` where that
    moves less. Then without any on the stack; then, if the user allows it, with pins of libraries
    relaxed. `requirements` are those of packages that stay.
    """

    def with_variants(problem: Problem) -> VariantProblems:
        return variant_problems(request, lock_state, problem, requirements)

    problem_with = partial(
        project_problem, request, lock_state, requirements, index_choice=index_choice
    )
    first, cleared = problem_with(), problem_with(without=suspects)
    together = (first, cleared) if cleared.set_aside else (first,)
    yield Relaxation(tuple(map(with_variants, together)))
    bare = problem_with(overrides=False)
    if bare.set_aside:
        yield Relaxation((with_variants(bare),))
    if request.allow_override:
        packages = request.graph.packages
        given_up = [(library,) for library in packages.overridable]
        for libraries in (*given_up, packages.overridable):
            relaxed = frozenset(p.name for what in libraries for p in packages.providing(what))
            loose = problem_with(overrides=False, relaxed=relaxed)
            yield Relaxation((with_variants(loose),), last_resort=True)
