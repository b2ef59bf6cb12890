"""Answers to "why this?" and "why not that?": asked of the same solver that made the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from packaging.requirements import Requirement
from packaging.version import Version

from stackfix.model.finding import Finding
from stackfix.plan.explain.obstacles import grouped
from stackfix.plan.plan import Answer, Move, Obstacle
from stackfix.solve.candidates import Candidates
from stackfix.solve.explain import Conflict
from stackfix.solve.problem import Problem
from stackfix.solve.resolve import Solution, complete
from stackfix.solve.search import Exclusion
from stackfix.solve.terms import PackageKey
from stackfix_index.names import normalized

__all__ = ["answers"]

MOST = 40
"""Versions looked at for one question."""


def answers(
    problem: Problem,
    swapped: Sequence[Problem],
    why: Sequence[str],
    why_not: Sequence[str],
    moves: Iterable[Move],
    findings: Sequence[Finding],
) -> tuple[Answer, ...]:
    """One answer for each question, in the order in which they were asked.

    A question is asked of the problem that the plan was found in, or of the one with the variants
    that it names: `problem` as the project is, `swapped` with others.
    """
    by_name = {move.package: move for move in moves}
    taken = {move.variant.after for move in by_name.values() if move.variant is not None}
    as_it_is = Candidates(problem)
    every = [as_it_is, *map(Candidates, swapped)]
    of_plan = next((one for one in every if taken <= _swapped(one.problem)), as_it_is)

    def fitting(requirement: Requirement) -> Candidates:
        """Where the variant is asked for that a requirement names."""
        table = problem.graph.variants
        named = {key for key in PackageKey.of(requirement) if table.get(key.name, key.extra)}
        asking = (one for one in (of_plan, *every) if named and named <= _asked(one.problem))
        return next(asking, of_plan)

    return (
        *(_why(of_plan, as_it_is, name, by_name.get(name), findings) for name in why),
        *(_why_not(fitting(r), r, by_name) for r in map(Requirement, why_not)),
    )


def _swapped(problem: Problem) -> set[str]:
    """The variants that a problem asks for in place of the project's."""
    swap = problem.variant_swap
    return set() if swap is None else {str(new) for new in swap.swaps.values()}


def _asked(problem: Problem) -> set[PackageKey]:
    return {root.key for root in problem.roots}


def _why(
    candidates: Candidates,
    declared: Candidates,
    name: str,
    move: Move | None,
    findings: Sequence[Finding],
) -> Answer:
    question = f"why {name}"
    problem = candidates.problem
    if move is None and not problem.present(name):
        return Answer(question=question, lines=(f"{name} is not part of this environment",))
    if move is None:
        locked = problem.locked[name]
        faults = [f for f in findings if f.package == name and problem.policy.is_fault(f)]
        said = (
            faults[0].message if faults else "no error on any target, and nothing asks it to move"
        )
        return Answer(question=question, lines=(f"{name} stays at {locked}: {said}",))
    if move.variant is not None:
        return _why_variant(question, declared, move)
    lines = [f"{name} {move.before or 'new'} → {move.after or 'leaves'}: {move.because}"]
    if move.after is None or name not in problem.locked:
        return Answer(question=question, lines=tuple(lines))
    chosen = Version(move.after.partition(",")[0])
    nearer = list(_nearer(candidates, name, chosen))
    if nearer:
        lines.append("why not less:")
    return Answer(
        question=question, lines=tuple(lines), obstacles=_failing(candidates, name, nearer)
    )


def _why_variant(question: str, declared: Candidates, move: Move) -> Answer:
    """Why a variant gives way: what its locked version meets with when the project keeps it."""
    assert move.variant is not None
    old, new = move.variant.before, move.variant.after
    name = normalized(Requirement(old).name)
    obstacles = _failing(declared, name, [declared.problem.locked[name]])
    lines = [f"{old} → {new}: {move.because}"]
    if obstacles:
        lines.append(f"why not {old}:")
    else:
        lines.append(f"{old} can stay where more else moves: stackfix plan --keep {name}")
    return Answer(question=question, lines=tuple(lines), obstacles=obstacles)


def _nearer(candidates: Candidates, name: str, chosen: Version) -> Iterator[Version]:
    """Versions that would have been preferred to the chosen one, the most preferred first."""
    costs = candidates.costs(name)
    own = costs.get(chosen)
    if own is None:
        return
    for version, cost in sorted(costs.items(), key=lambda item: item[1]):
        if cost < own:
            yield version


def _why_not(candidates: Candidates, requirement: Requirement, moves: dict[str, Move]) -> Answer:
    problem = candidates.problem
    name = normalized(requirement.name)
    question = f"why not {requirement}"
    chosen = moves[name].after if name in moves else str(problem.locked.get(name, ""))
    indexes = {None, _local(str(problem.locked.get(name, ""))), _local(chosen or "")}
    known = [
        release.version
        for release in problem.graph.releases(name)
        if release.version.local in indexes or "+" in str(requirement.specifier)
    ]
    asked = [v for v in known if requirement.specifier.contains(v, prereleases=True)]
    if not asked:
        return Answer(question=question, lines=(f"no known release of {name} is meant by that",))
    obstacles = _failing(candidates, name, asked[-MOST:])
    failing = {version for obstacle in obstacles for version in obstacle.versions}
    working = [str(v) for v in asked[-MOST:] if str(v) not in failing]
    lines = []
    if working and chosen in working:
        lines.append(f"{name} {chosen} is what the plan takes")
    elif working:
        lines.append(
            f"{', '.join(working)} would work as well; the plan takes {name} {chosen}, "
            f"which changes less: stackfix plan --require '{requirement}'"
        )
    return Answer(question=question, lines=tuple(lines), obstacles=obstacles)


def _local(version: str) -> str | None:
    """The local part of a version, which names its index."""
    return version.partition("+")[2] or None


def _failing(
    candidates: Candidates, name: str, versions: Iterable[Version]
) -> tuple[Obstacle, ...]:
    """Of these versions those that cannot be part of a plan, each with its reason."""
    refused = candidates.refused(name)
    exclusions = []
    for version in versions:
        if version in refused:
            exclusions.append(Exclusion(package=name, version=version, reason=refused[version]))
            continue
        outcome: Solution | Conflict = complete(candidates, {name: version})
        if isinstance(outcome, Conflict):
            exclusions.append(
                Exclusion(
                    package=name, version=version, reason=outcome.reason, ways_out=outcome.ways_out
                )
            )
    return grouped(exclusions)
