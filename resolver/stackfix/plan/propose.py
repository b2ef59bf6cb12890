"""Proposing: from a project and its targets to a plan, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from stackfix.plan import outcome
from stackfix.plan.attempt import Attempt, Rejected, attempt, repaired
from stackfix.plan.case import Case
from stackfix.plan.declared import world
from stackfix.plan.exchanging import as_exchanged, worlds
from stackfix.plan.homes import homes
from stackfix.plan.lifting import lifts
from stackfix.plan.limits import Limits, dependents, limits
from stackfix.plan.nextstep import next_step, worth_a_step
from stackfix.plan.obstacles import stuck
from stackfix.plan.plan import NextStep, Plan
from stackfix.plan.request import Request, Strategy
from stackfix.plan.start import start
from stackfix.plan.why import answers
from stackfix.rules.judge import errors
from stackfix.rules.sf506_clash import Clashing
from stackfix.solve.joint import Joint
from stackfix.solve.search import Failure, Found
from stackfix.solve.world import HERE, World
from stackfix_lockfiles.relock import IndexUnreachable

__all__ = ["propose"]

OVERRIDABLE = (("nccl",), ("cudnn",), ("nccl", "cudnn"))
"""Libraries whose interface is stable within a major and that frameworks pin without extras, in
the order in which their pins are given up."""

ATTEMPTS = 12
"""Combinations of one scene handed to uv before it is left; each costs a relock."""


def propose(request: Request) -> Plan:
    """The plan for a request. Nothing in the project is written.

    Raises:
        InputError: the project, its lock or the selection is broken.
        Unlockable: uv can lock the project with no versions of the stack.
        IndexUnreachable, RelockRefused: uv could not go on.
    """
    case = start(request)
    limits_of = cache(lambda: _limits(case))  # read when first needed, and once
    plan = _proposed(case, limits_of)
    if not (request.why or request.why_not) or not plan.gpu_packages:
        return plan
    scene = world(case.request, case.before, limits_of().demands)
    around = worlds(case.request, case.before, scene, limits_of().demands)
    told = answers(scene, around.exchanged, request.why, request.why_not, plan.moves, plan.findings)
    return replace(plan, answers=told)


def _proposed(case: Case, limits_of: Callable[[], Limits]) -> Plan:
    request = case.request
    if not case.before.gpu_packages:
        return outcome.no_gpu(case)
    asked = bool(request.require) or request.strategy == Strategy.NEWEST
    if case.repairs and not asked and not _beside_clashes(case):
        return outcome.planned(case, repaired(case, world(request, case.before, ())), None, (), 0)
    if not errors(case.findings) and not asked:
        if not worth_a_step(case.findings):
            return outcome.nothing_to_do(case, None, ())
        found = limits_of()
        step = next_step(request, case.before, case.findings, found.demands)
        return outcome.nothing_to_do(case, step, found.warnings)
    return _move(case, limits_of())


def _beside_clashes(case: Case) -> bool:
    """Whether there are errors that the repairs of the start do not clear."""
    return any(fault.code != Clashing.code for fault in errors(case.findings))


def _limits(case: Case) -> Limits:
    """What packages that stay ask of the stack."""
    from stackfix_lockfiles.metadata import requires

    packages = dependents(case.before)
    case.request.say(f"reading what {len(packages)} packages ask of the stack")
    read = requires(
        packages.values(),
        offline=case.request.offline,
        indexes=(*case.request.project.indexes, *case.request.project.source_indexes),
    )
    return limits(case.before, packages, read)


def _move(case: Case, found: Limits) -> Plan:
    request = case.request
    failures: list[Failure] = []
    rejected: list[Rejected] = []
    tried = 0
    for scene in _scenes(case, found):
        around = worlds(request, case.before, scene, found.demands)
        search = Joint(around.all, newest=request.strategy == Strategy.NEWEST)
        refused: list[Rejected] = []
        for combination in search.solutions():
            request.say("relocking with " + _named(combination))
            try:
                result = attempt(case, combination)
            except IndexUnreachable as unreachable:
                if scene.homes == HERE:
                    raise
                refused.append(Rejected(chosen=combination.chosen, reason=str(unreachable)))
                break
            if isinstance(result, Attempt):
                step = _next(case, result, found)
                tried += search.tried
                return outcome.planned(case, result, step, found.warnings, tried)
            refused.append(result)
            if len(refused) >= ATTEMPTS or stuck(refused):
                break
        rejected += refused
        failures += (*search.failures, *around.held)
        tried += search.tried
    ways = lifts(case, found.demands)
    return outcome.impossible(case, failures, rejected, ways, found.warnings, tried)


def _next(case: Case, made: Attempt, found: Limits) -> NextStep | None:
    """The step that is possible after this one, asked of the project as it will be."""
    project, _ = as_exchanged(case.request.project, made.world, made.where)
    request = replace(case.request, project=project)
    return next_step(request, made.after, made.remaining, found.demands)


def _scenes(case: Case, found: Limits) -> Iterator[World]:
    """The worlds to search, one after another: as the project is, then with more set aside."""
    request = case.request
    same = request.strategy == Strategy.SAME_INDEX
    all_homes = HERE if same else homes(request, case.before.lock)
    # A project that takes its torch from PyTorch's indexes may change between them at once.
    at_home = all_homes if _on_indexes(case) else HERE
    first = world(request, case.before, found.demands, homes=at_home)
    yield first
    if any(request.graph.packages.get(name) for name in first.overrides):
        yield world(request, case.before, found.demands, overrides=False, homes=at_home)
    if at_home != all_homes:
        yield world(request, case.before, found.demands, overrides=False, homes=all_homes)
    if request.allow_override:
        packages = request.graph.packages
        for libraries in OVERRIDABLE:
            relaxed = frozenset(p.name for what in libraries for p in packages.providing(what))
            yield world(request, case.before, found.demands, overrides=False, relaxed=relaxed)


def _on_indexes(case: Case) -> bool:
    """Whether some site takes a package from one of PyTorch's indexes, the CPU one included."""
    known = {*case.request.graph.indexes.names(), "cpu"}
    return any(piece.version.local in known for stack in case.before.stacks for piece in stack)


def _named(combination: Found) -> str:
    world = combination.world
    moved = [f"{n} {v}" for n, v in combination.chosen.items() if world.locked.get(n) != v]
    if world.exchange is not None:
        moved.append(str(world.exchange))
    return ", ".join(moved) or "the same frameworks and other libraries"
