"""The problems to search: the project as it is, and with more of it set aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stackfix.model.finding import Finding
from stackfix.plan.lock_state import LockState
from stackfix.plan.problems.project import project_problem
from stackfix.plan.problems.variants import VariantProblems, with_variants
from stackfix.plan.request import Request
from stackfix.rules.sf503_override import Override
from stackfix.solve.joint import Joint
from stackfix.solve.problem import IndexChoice, Problem, StackRequirement
from stackfix.solve.search import Failure

__all__ = ["Relaxation", "at_fault", "relaxations"]


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Worlds that are searched together, in order of cost."""

    around: tuple[VariantProblems, ...]
    last_resort: bool = False
    """Pins of libraries are overridden: only where nothing else works, however little is known."""

    @property
    def held(self) -> list[Failure]:
        """Variants that cannot be exchanged, each with the reason."""
        return list(dict.fromkeys(failure for one in self.around for failure in one.held))

    def search(self, *, newest: bool = False) -> Joint:
        """The search of all of them."""
        return Joint([problem for one in self.around for problem in one.all], newest=newest)


def at_fault(faults: Iterable[Finding]) -> frozenset[str]:
    """The packages whose override is a fault by itself."""
    return frozenset(fault.package for fault in faults if fault.code == Override.code)


def relaxations(
    request: Request,
    lock_state: LockState,
    demands: Sequence[StackRequirement],
    homes: IndexChoice,
    suspects: frozenset[str] = frozenset(),
) -> Iterator[Relaxation]:
    """What to search for these environments, one after another.

    First the project as it is: with all its overrides, or without those on `suspects` where that
    moves less. Then without any on the stack; then, if the user allows it, with pins of libraries
    relaxed.
    """

    def seen(relaxation: Problem) -> VariantProblems:
        return with_variants(request, lock_state, relaxation, demands)

    first = project_problem(request, lock_state, demands, homes=homes)
    cleared = project_problem(request, lock_state, demands, without=suspects, homes=homes)
    yield Relaxation((seen(first), seen(cleared)) if cleared.set_aside else (seen(first),))
    bare = project_problem(request, lock_state, demands, overrides=False, homes=homes)
    if bare.set_aside:
        yield Relaxation((seen(bare),))
    if request.allow_override:
        packages = request.graph.packages
        given_up = [(library,) for library in packages.overridable]
        for libraries in (*given_up, packages.overridable):
            relaxed = frozenset(p.name for what in libraries for p in packages.providing(what))
            loose = project_problem(
                request, lock_state, demands, overrides=False, relaxed=relaxed, homes=homes
            )
            yield Relaxation((seen(loose),), last_resort=True)
