"""One attempt: a solution made real by edits and uv, and judged again by the same rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from stackfix.audit.lock_audit import Audit
from stackfix.model.finding import Finding
from stackfix.model.stack import Piece
from stackfix.plan.case import Case
from stackfix.plan.edits.index_edits import IndexEdits
from stackfix.plan.edits.pins import edits_for
from stackfix.plan.edits.scope import EVERYWHERE, Scope, scope
from stackfix.plan.edits.variant_edits import swap_is_shared
from stackfix.plan.lock_state import LockState, audited, lock_state
from stackfix.rules.sf506_clash import Clashing
from stackfix.solve.problem import Problem
from stackfix.solve.resolve import Solution
from stackfix.solve.search import Combination
from stackfix_lockfiles.edits import Edit, apply_edits
from stackfix_lockfiles.lock import Lock, SourceKind
from stackfix_lockfiles.relock import NotCached, Relocked, RelockRefused, relock

__all__ = ["Attempt", "Rejected", "attempt", "repaired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A solution that uv accepted and no rule objects to."""

    solution: Solution
    edits: tuple[Edit, ...]
    files: Mapping[Path, bytes]
    """Edited pyproject files, without the lock."""
    lock: bytes
    after: LockState
    remaining: tuple[Finding, ...]
    problem: Problem
    where: Scope = EVERYWHERE
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A solution that did not become a lock, with the reason."""

    chosen: Mapping[str, Version]
    """The frameworks' versions."""
    reason: str
    uncached: bool = False
    """Whether uv only lacked something in its cache, offline."""


def attempt(case: Case, combination: Combination) -> Attempt | Rejected:
    """Edit, relock and judge one combination. Nothing in the project is touched.

    Raises:
        IndexUnreachable: an index does not answer.
    """
    request, solution, problem = case.request, combination.solution, combination.problem
    where = scope(request, case.before.lock, solution.versions)
    index_edits = IndexEdits(request.project, problem, solution.versions, where)
    if swap_is_shared(request.project, problem, where) or index_edits.is_shared():
        where = EVERYWHERE
    try:
        findings = combination.candidates.findings
        made = edits_for(request.project, problem, findings, solution.versions, where)
    except ValueError as error:
        return Rejected(chosen=combination.chosen, reason=str(error))
    edits = (*case.repairs, *made)
    files = apply_edits(request.project, edits)
    try:
        relocked = _relocked(case, files, _pins(case, solution.versions), where)
    except RelockRefused as refusal:
        uncached = isinstance(refusal, NotCached)
        return Rejected(chosen=combination.chosen, reason=refusal.reason, uncached=uncached)
    lock = Lock.parse(relocked.lock, name="the new uv.lock")
    now = audited(request, lock, files)
    after = lock_state(lock, request, now.environments)
    strayed = _strayed(after, solution.versions, problem)
    if strayed:
        return Rejected(chosen=combination.chosen, reason=f"uv locked {strayed}")
    if faults := _left(case, now):
        return Rejected(chosen=combination.chosen, reason=faults[0].message)
    return Attempt(
        solution=solution,
        edits=edits,
        files=files,
        lock=relocked.lock,
        after=after,
        remaining=now.findings,
        problem=problem,
        where=where,
        warnings=relocked.warnings,
    )


def _left(case: Case, now: Audit) -> list[Finding]:
    """The faults for which a new lock is no answer.

    What was wrong before with packages that no plan moves is no reason against it, as long as it
    clears something else.
    """
    is_stack = case.request.graph.packages.is_stack
    before = {(f.key, f.message) for f in case.faults}
    still = {(f.key, f.message) for f in now.faults}
    if before <= still and before:
        return list(now.faults)
    return [f for f in now.faults if is_stack(f.package) or (f.key, f.message) not in before]


def repaired(case: Case, problem: Problem) -> Attempt:
    """The case with its repairs and no move: they are all that it needs."""
    return Attempt(
        solution=Solution(versions={}, because={}, stacks=()),
        edits=case.repairs,
        files=apply_edits(case.request.project, case.repairs),
        lock=case.before.lock.data,
        after=case.before,
        remaining=tuple(
            f for f in case.findings if f.code != Clashing.code and f not in case.outdated
        ),
        problem=problem,
    )


def _relocked(
    case: Case, files: Mapping[Path, bytes], pins: Mapping[str, str], where: Scope
) -> Relocked:
    """What uv locks with these pins in every fork; if it refuses, in the targets' forks alone.

    Everywhere is better, since no older library is left in a fork that comes alive elsewhere. But
    some forks cannot follow: the last torch with wheels for Intel Macs is 2.2. Where extras or
    groups exclude each other, the chosen ones ask for the pins, on the targets' systems.
    """
    request = case.request
    systems = sorted(
        {environment.markers["sys_platform"] for environment in case.before.environments}
    )
    marker = " or ".join(f"sys_platform == '{system}'" for system in systems)
    here = {name: f"{version} ; {marker}" for name, version in pins.items()}

    def run(wanted: Mapping[str, str]) -> Relocked:
        return relock(
            request.project,
            files,
            pins=wanted,
            within=where.chosen,
            python=request.python,
            offline=request.offline,
            progress=request.progress,
        )

    if where.chosen:
        return run(here)
    try:
        return run(pins)
    except RelockRefused as everywhere:
        request.say(f"uv refuses this in other forks; pinning where {marker}")
        try:
            return run(here)
        except RelockRefused:
            raise everywhere from None


def _pins(case: Case, versions: Mapping[str, Version]) -> dict[str, str]:
    """Public versions for every package of the solution that comes from an index."""
    elsewhere = {
        package.name
        for package in case.before.lock.packages
        if package.source.kind is not SourceKind.REGISTRY
    }
    return {name: version.public for name, version in versions.items() if name not in elsewhere}


def _strayed(after: LockState, versions: Mapping[str, Version], problem: Problem) -> str | None:
    """A package that uv locked at another version than the solution's, or from another index."""
    for stack in after.stacks:
        for piece in stack:
            wanted = versions.get(piece.name)
            if wanted is None:
                continue
            if Version(piece.version.public) != Version(wanted.public):
                return f"{piece.title} instead of {wanted.public}"
            moved = problem.locked.get(piece.name) != wanted
            if moved and piece.package.on_pytorch_indexes and _is_elsewhere(piece, wanted, problem):
                where = piece.locked.source.index if piece.locked else None
                return f"{piece.title} of {where} instead of {wanted}"
    return None


def _is_elsewhere(piece: Piece, wanted: Version, problem: Problem) -> bool:
    """Whether a package of PyTorch's comes from another of the known indexes than it should."""
    table = problem.graph.indexes
    index = piece.locked.source.index if piece.locked else None
    name = table.name_of(index) if index is not None else None
    return name != (wanted.local if wanted.local in table.names() else None)
