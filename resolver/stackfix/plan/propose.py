"""Proposing: from a project and its targets to a plan, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from stackfix.plan import outcome
from stackfix.plan.attempt import Attempt, Rejected, attempt, repaired
from stackfix.plan.case import Case
from stackfix.plan.edits.variant_edits import with_swap
from stackfix.plan.explain.next_step import next_step, worth_a_step
from stackfix.plan.explain.obstacles import stuck
from stackfix.plan.explain.ways_out import ways_out
from stackfix.plan.explain.why import answers
from stackfix.plan.plan import NextStep, Plan
from stackfix.plan.problems.index_choice import IndexesSilent, IndexReach
from stackfix.plan.problems.outside import (
    OutsideRequirements,
    dependents,
    outside_requirements,
)
from stackfix.plan.problems.project import project_problem
from stackfix.plan.problems.relaxations import Relaxation, at_fault, relaxations
from stackfix.plan.request import Request, Strategy
from stackfix.plan.start import start
from stackfix.rules.sf506_clash import Clashing
from stackfix.solve.search import Combination, JointSearch
from stackfix_lockfiles.diff import diff
from stackfix_lockfiles.relock import IndexUnreachable

__all__ = ["propose"]

ATTEMPTS = 12
"""Combinations of one relaxation handed to uv before it is left; each costs a relock."""


def propose(request: Request) -> Plan:
    """The plan for a request. Nothing in the project is written.

    Raises:
        InputError: the project, its lock or the selection is broken.
        Unlockable: uv can lock the project with no versions of the stack.
        IndexUnreachable, RelockRefused: uv could not go on.
    """
    case = start(request)
    outside = cache(lambda: _outside(case))  # read when first needed, and once
    reach = IndexReach(case.request, case.before.lock)
    plan = _proposed(case, outside, reach)
    if not (request.why or request.why_not) or not plan.gpu_packages:
        return plan
    requirements = outside().requirements
    relaxation = next(relaxations(case.request, case.before, requirements, reach.choice))
    first = relaxation.problems[0]
    answered = answers(
        first.problem, first.swapped, request.why, request.why_not, plan.moves, plan.findings
    )
    return replace(plan, answers=answered)


def _proposed(case: Case, outside: Callable[[], OutsideRequirements], reach: IndexReach) -> Plan:
    request = case.request
    if not case.before.gpu_packages and not case.faults:
        return outcome.no_gpu(case)
    asked = bool(request.require) or request.strategy == Strategy.NEWEST
    if case.repairs and not asked and not _beside_clashes(case):
        return _as_it_is(case)
    if not case.faults and not asked:
        if any(map(request.policy.is_fault, case.outdated)):
            findings = (*case.outdated, *case.findings)
            return _as_it_is(replace(case, origin=case.on_disk, findings=findings))
        if not worth_a_step(case.findings):
            return outcome.nothing_to_do(case, None, ())
        found = outside()
        step = next_step(request, case.before, case.findings, found.requirements)
        return outcome.nothing_to_do(case, step, found.warnings)
    return _move(case, outside(), reach)


def _beside_clashes(case: Case) -> bool:
    """Whether there are errors that the repairs of the start do not clear."""
    return any(fault.code != Clashing.code for fault in case.faults)


def _as_it_is(case: Case) -> Plan:
    """The lock that the plan starts from, with the repairs that it took: nothing else moves."""
    made = repaired(case, project_problem(case.request, case.before, ()))
    return outcome.planned(case, made, None, (), 0)


def _outside(case: Case) -> OutsideRequirements:
    """What packages that stay ask of the stack."""
    from stackfix_lockfiles.metadata import requires

    packages = dependents(case.before)
    case.request.say(f"reading what {len(packages)} packages ask of the stack")
    read = requires(
        packages.values(),
        offline=case.request.offline,
        indexes=(*case.request.project.indexes, *case.request.project.source_indexes),
    )
    return outside_requirements(case.before, packages, read)


def _move(case: Case, outside: OutsideRequirements, reach: IndexReach) -> Plan:
    try:
        return _moved(case, outside, reach)
    except IndexesSilent as silent:
        case.request.say(f"planning without PyTorch's own indexes: {silent}")
        return _moved(case, outside, reach)


def _moved(case: Case, outside: OutsideRequirements, reach: IndexReach) -> Plan:
    """The plan with the indexes that answer.

    Raises:
        IndexesSilent: some of them don't, which was not known so far.
    """
    request = case.request
    known: set[object] = set()
    suspects = at_fault(case.faults)
    runs = [
        _Run(relaxation, relaxation.search(newest=request.strategy == Strategy.NEWEST))
        for relaxation in relaxations(
            request, case.before, outside.requirements, reach.choice, suspects
        )
    ]
    for run, combination in _in_turn(runs):
        if _key(combination) in known:
            continue
        known.add(_key(combination))
        reach.ask(combination)
        request.say("relocking with " + _named(combination))
        try:
            result = attempt(case, combination)
        except IndexUnreachable as unreachable:
            reach.failed(unreachable.url, unreachable.reason)
            raise
        if isinstance(result, Attempt):
            step = _next(case, result, outside)
            warnings = (*outside.warnings, *reach.warnings)
            if (
                not case.faults
                and not result.edits
                and not diff(case.before.lock, result.after.lock)
            ):
                return outcome.nothing_to_do(case, step, warnings)  # it is as was asked for
            return outcome.planned(case, result, step, warnings, sum(r.search.tried for r in runs))
        if result.uncached:
            reach.uncached(combination)
        run.refused.append(result)
    ways = ways_out(case, outside.requirements, reach.choice)
    warnings = (*outside.warnings, *reach.warnings)
    exclusions = [
        exclusion
        for run in runs
        for exclusion in (*run.search.exclusions, *run.relaxation.exclusions)
    ]
    rejected = [one for r in runs for one in r.refused]
    tried = sum(r.search.tried for r in runs)
    return outcome.impossible(case, exclusions, rejected, ways, warnings, tried)


@dataclass
class _Run:
    """The search of one relaxation, and what of it did not become a lock."""

    relaxation: Relaxation
    search: JointSearch
    refused: list[Rejected] = field(default_factory=list)

    def combinations(self) -> Iterator[Combination]:
        """Until so many were refused that more would be as well."""
        for combination in self.search.combinations():
            yield combination
            if len(self.refused) >= ATTEMPTS or stuck(self.refused):
                return


def _in_turn(runs: Sequence[_Run]) -> Iterator[tuple[_Run, Combination]]:
    """The combinations of one relaxation after another, what nobody measured after what is known.

    Last resorts come after everything else.
    """
    waiting: list[tuple[_Run, Combination, Iterator[Combination]]] = []

    def delayed() -> Iterator[tuple[_Run, Combination]]:
        for run, first, rest in sorted(waiting, key=lambda one: one[1].cost.unknown):
            yield run, first
            yield from ((run, combination) for combination in rest)
        waiting.clear()

    for run in runs:
        if run.relaxation.last_resort:
            yield from delayed()
        combinations = run.combinations()
        for combination in combinations:
            if combination.cost.unknown:  # so has all that follows
                waiting.append((run, combination, combinations))
                break
            yield run, combination
    yield from delayed()


def _changes(case: Case, made: Attempt) -> bool:
    """Whether an attempt moves or edits anything."""
    return bool(made.edits or diff(case.before.lock, made.after.lock))


def _next(case: Case, made: Attempt, outside: OutsideRequirements) -> NextStep | None:
    """The step that is possible after this one, asked of the project as it will be."""
    project, _ = with_swap(case.request.project, made.problem, made.where)
    request = replace(case.request, project=project)
    return next_step(request, made.after, made.remaining, outside.requirements)


def _key(combination: Combination) -> object:
    """What tells two combinations apart, in whichever relaxation they were found."""
    problem, versions = combination.problem, combination.solution.versions
    return (frozenset(versions.items()), frozenset(problem.overrides), str(problem.variant_swap))


def _named(combination: Combination) -> str:
    problem = combination.problem
    moved = [f"{n} {v}" for n, v in combination.chosen.items() if problem.locked.get(n) != v]
    if problem.variant_swap is not None:
        moved.append(str(problem.variant_swap))
    return ", ".join(moved) or "the same frameworks and other libraries"
