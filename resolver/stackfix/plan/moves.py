"""From two locks to moves: what changed version, why, in which fork, by which edits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stackfix.plan.attempt import Attempt
from stackfix.plan.case import Case
from stackfix.plan.plan import Move
from stackfix.plan.sites import Ground
from stackfix.rules.finding import Finding, Severity
from stackfix.solve.resolve import Solution
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.diff import PackageChange

__all__ = ["moves"]


def moves(changes: Iterable[PackageChange], case: Case, made: Attempt) -> tuple[Move, ...]:
    """Every change of version or index as a move: causes first, then what they drag along."""
    found = []
    for change in changes:
        cause = _cause(change.name, case.findings)
        found.append(
            Move(
                package=change.name,
                before=", ".join(change.before) or None,
                after=", ".join(change.after) or None,
                because=cause or _dragged(change.name, made.solution),
                dragged=cause is None,
                fork=_fork(change, case.before, made.after),
                index=change.index,
                edits=tuple(e for e in made.edits if e.package == change.name),
            )
        )
    return tuple(sorted(found, key=lambda move: _order(move, case.request.graph)))


def _cause(name: str, findings: Sequence[Finding]) -> str | None:
    """The finding that the move clears, errors before warnings."""
    own = [f for f in findings if f.package == name and f.severity is not Severity.INFO]
    return own[0].message if own else None


def _dragged(name: str, solution: Solution) -> str:
    parents = solution.parents.get(name, ())
    return parents[0] if parents else "moves along with the packages above"


def _fork(change: PackageChange, before: Ground, after: Ground) -> str | None:
    """Where the change is confined to forks that no target installs, says so."""
    installed = {
        str(piece.version)
        for ground in (before, after)
        for stack in ground.stacks
        if (piece := stack.get(change.name)) is not None
    }
    if not installed or installed & {*change.before, *change.after}:
        return None
    return "forks for other platforms"


def _order(move: Move, graph: Graph) -> tuple[int, int, str]:
    package = graph.packages.get(move.package)
    roles = ["framework", "companion", "library"]
    role = roles.index(package.role) if package and package.role in roles else len(roles)
    return (role, int(move.dragged), move.package)
