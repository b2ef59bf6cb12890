"""What the project itself asks for: the roots of the solve, and what holds packages in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.audit.forks import lowest_python
from stackfix.model.stack import Piece
from stackfix.plan.edits.scope import groups_of
from stackfix.plan.edits.specifier import kept_clauses
from stackfix.plan.lock_state import LockState
from stackfix.plan.request import Request
from stackfix.solve.problem import SAME_INDEX, IndexChoice, Problem, StackRequirement
from stackfix_knowledge.stack.packages import Role
from stackfix_lockfiles.lock import Lock, SourceKind
from stackfix_lockfiles.requirement import DeclaredRequirement

__all__ = ["active", "locked_versions", "project_problem"]


def active(request: Request, lock_state: LockState) -> tuple[DeclaredRequirement, ...]:
    """The declared requirements that the selected extras and groups bring in on some target."""
    groups = _groups(request, lock_state.lock)
    found = []
    for declared in request.project.requirements:
        if declared.extra is not None and not (
            request.all_extras or declared.extra in request.extras
        ):
            continue
        if declared.group is not None and groups is not None and declared.group not in groups:
            continue
        marker = declared.requirement.marker
        if marker is None or any(
            marker.evaluate({**environment.markers, "extra": declared.extra or ""})
            for environment in lock_state.environments
        ):
            found.append(declared)
    return tuple(found)


def _groups(request: Request, lock: Lock) -> set[str] | None:
    """The selected groups with the groups they include; None: every group."""
    default = request.project.default_groups
    if default == "all":
        return None
    found = set(groups_of(request, lock) or default)
    while True:
        included = {g.includes for g in request.project.included_groups if g.group in found}
        if included <= found:
            return found
        found |= included


def locked_versions(lock_state: LockState) -> dict[str, Version]:
    """The version of every stack package that the targets install, the lowest where they differ."""
    versions: dict[str, Version] = {}
    for stack in lock_state.stacks:
        for piece in stack:
            known = versions.get(piece.name)
            versions[piece.name] = piece.version if known is None else min(known, piece.version)
    return versions


@dataclass(frozen=True, slots=True)
class _Asked:
    """The project's requirements, told apart by what they are about."""

    roots: tuple[StackRequirement, ...]
    outside: Mapping[str, tuple[StackRequirement, ...]]


def project_problem(
    request: Request,
    lock_state: LockState,
    demands: Iterable[StackRequirement],
    *,
    overrides: bool = True,
    without: frozenset[str] = frozenset(),
    relaxed: frozenset[str] = frozenset(),
    homes: IndexChoice = SAME_INDEX,
) -> Problem:
    """The problem to solve in: the project's demands, those of packages that stay, and holds.

    Requirements of the project on packages of the stack ask only that the package is there: their
    version limits are edited when the solution needs it. With `overrides` False, the project's
    overrides on packages of the stack are set aside; otherwise those on `without`. Exact pins on
    `relaxed` libraries hold within their major only.
    """
    asked = _split(request, lock_state)
    every = _overrides(request, stack_too=True)
    held = every if overrides else _overrides(request, stack_too=False)
    kept = {name: specifier for name, specifier in held.items() if name not in without}
    return Problem(
        graph=request.graph,
        environments=lock_state.environments,
        locked=locked_versions(lock_state),
        roots=tuple(dict.fromkeys((*asked.roots, *demands))),
        declared=asked.outside,
        overrides=kept,
        set_aside=len(every) - len(kept),
        held=_held(request, lock_state),
        python=lowest_python(lock_state.lock.requires_python),
        required=_required(request, lock_state),
        relaxed=relaxed,
        homes=homes,
        policy=request.policy,
    )


def _required(request: Request, lock_state: LockState) -> dict[str, SpecifierSet]:
    """What limits a package without asking for it: `--require`, and what constraints exclude."""
    from packaging.requirements import Requirement

    found: dict[str, SpecifierSet] = {}
    asked = [
        (demand.name, demand.specifier)
        for text in request.require
        for demand in StackRequirement.of(Requirement(text), "--require")[:1]
    ]
    constraints = _constraints(request, lock_state)
    asked += [(one.name, kept_clauses(one.requirement.specifier)) for one in constraints]
    for name, specifier in asked:
        if specifier:
            found[name] = found.get(name, SpecifierSet()) & specifier
    return found


def _constraints(request: Request, lock_state: LockState) -> Iterator[DeclaredRequirement]:
    """The project's constraints that hold on some environment."""
    for declared in request.project.constraints:
        marker = declared.requirement.marker
        if marker is None or any(
            marker.evaluate({**s.markers, "extra": ""}) for s in lock_state.environments
        ):
            yield declared


def _split(request: Request, lock_state: LockState) -> _Asked:
    roots: list[StackRequirement] = []
    outside: dict[str, tuple[StackRequirement, ...]] = {}
    for declared in active(request, lock_state):
        origin = f"{declared.file} line {declared.line}"
        for demand in StackRequirement.of(declared.requirement, origin):
            if request.graph.packages.get(demand.name) is None:
                outside[demand.name] = (*outside.get(demand.name, ()), demand)
            else:
                roots.append(
                    StackRequirement(demand.key, kept_clauses(demand.specifier), origin, None, True)
                )
    for declared in _constraints(request, lock_state):
        if request.graph.packages.get(declared.name) is None:
            limit = StackRequirement.of(
                declared.requirement, f"{declared.file} line {declared.line}"
            )[:1]
            outside[declared.name] = (*outside.get(declared.name, ()), *limit)
    return _Asked(tuple(dict.fromkeys(roots)), outside)


def _overrides(request: Request, *, stack_too: bool) -> dict[str, SpecifierSet]:
    found = {}
    for declared in request.project.overrides:
        in_stack = request.graph.packages.get(declared.name) is not None
        if declared.requirement.specifier and (stack_too or not in_stack):
            found[declared.name] = declared.requirement.specifier
    return found


def _held(request: Request, lock_state: LockState) -> dict[str, str]:
    """Packages that can't move: kept by the user, or locked from a place that has one version."""
    held = dict.fromkeys(request.keep, "--keep")
    ours = _own_indexes(request, lock_state.lock)
    for stack in lock_state.stacks:
        for piece in stack:
            reason = _fixed_source(piece, ours)
            if reason is not None:
                held.setdefault(piece.name, reason)
    for name in _url_requirements(request):
        held.setdefault(name, "a direct URL in pyproject.toml")
    return held


def _own_indexes(request: Request, lock: Lock) -> set[str]:
    """The indexes whose releases the graph knows: the lock's main one, and PyTorch's."""
    used = Counter(p.source.index for p in lock.packages if p.source.index is not None)
    known = request.graph.indexes
    return {
        *(url for url, _ in used.most_common(1)),
        *(known.url(name).rstrip("/") for name in (*known.names(), "cpu")),
    }


def _fixed_source(piece: Piece, ours: set[str]) -> str | None:
    """Why a package can't be moved by its version alone; None where it can."""
    if piece.locked is None:
        return None
    source = piece.locked.source
    if source.kind is not SourceKind.REGISTRY:
        return f"locked from {source.kind}"
    if piece.package.role != Role.LIBRARY and source.index not in ours:
        return f"locked from {source.index}, whose releases nobody measured"
    return None


def _url_requirements(request: Request) -> Iterator[str]:
    for declared in request.project.requirements:
        if declared.requirement.url is not None:
            yield declared.name
