"""What the project itself asks for: the roots of the solve, and what holds packages in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.audit.forks import lowest_python
from stackfix.model.stack import Piece
from stackfix.plan.lock_state import LockState
from stackfix.plan.request import Request
from stackfix.solve.problem import SAME_INDEX, IndexChoice, Problem
from stackfix.solve.specifier import kept_clauses
from stackfix.solve.terms import StackRequirement
from stackfix_index.names import normalized
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
        marker, extra = declared.requirement.marker, declared.extra or ""
        if any(environment.holds(marker, extra) for environment in lock_state.environments):
            found.append(declared)
    return tuple(found)


def _groups(request: Request, lock: Lock) -> set[str] | None:
    """The selected groups with the groups they include; None: every group."""
    default = request.project.default_groups
    if default == "all":
        return None
    found = set(request.groups_in(lock) or default)
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
class _Declared:
    """The project's requirements, told apart by what they are about."""

    roots: tuple[StackRequirement, ...]
    outside: Mapping[str, tuple[StackRequirement, ...]]


def project_problem(
    request: Request,
    lock_state: LockState,
    requirements: Iterable[StackRequirement],
    *,
    overrides: bool = True,
    without: frozenset[str] = frozenset(),
    relaxed: frozenset[str] = frozenset(),
    index_choice: IndexChoice = SAME_INDEX,
) -> Problem:
    """The problem of a project: what it asks, what packages that stay ask, and what is fixed.

    `requirements` are those of packages that stay. What the project asks of packages of the stack
    is only that the package is there: version limits are edited when the solution needs it. With
    `overrides` False, the project's overrides on packages of the stack are set aside; otherwise
    those on `without`. Exact pins on `relaxed` libraries hold within their major only.
    """
    declared = _split(request, lock_state)
    every = _overrides(request, stack_too=True)
    some = every if overrides else _overrides(request, stack_too=False)
    kept = {name: specifier for name, specifier in some.items() if name not in without}
    return Problem(
        graph=request.graph,
        environments=lock_state.environments,
        locked=locked_versions(lock_state),
        roots=tuple(dict.fromkeys((*declared.roots, *requirements))),
        declared=declared.outside,
        overrides=kept,
        set_aside=len(every) - len(kept),
        fixed=_fixed(request, lock_state),
        python=lowest_python(lock_state.lock.requires_python),
        required=_required(request, lock_state),
        relaxed=relaxed,
        index_choice=index_choice,
        policy=request.policy,
    )


def _required(request: Request, lock_state: LockState) -> dict[str, SpecifierSet]:
    """What limits a package without asking for it: `--require`, and what constraints exclude."""
    from packaging.requirements import Requirement

    found: dict[str, SpecifierSet] = {}
    parsed = map(Requirement, request.require)
    limits = [(normalized(one.name), one.specifier) for one in parsed]
    constraints = _constraints(request, lock_state)
    limits += [(one.name, kept_clauses(one.requirement.specifier)) for one in constraints]
    for name, specifier in limits:
        if specifier:
            found[name] = found.get(name, SpecifierSet()) & specifier
    return found


def _constraints(request: Request, lock_state: LockState) -> Iterator[DeclaredRequirement]:
    """The project's constraints that hold on some environment."""
    for declared in request.project.constraints:
        marker = declared.requirement.marker
        if any(environment.holds(marker) for environment in lock_state.environments):
            yield declared


def _split(request: Request, lock_state: LockState) -> _Declared:
    roots: list[StackRequirement] = []
    outside: dict[str, tuple[StackRequirement, ...]] = {}
    packages = request.graph.packages
    for declared in active(request, lock_state):
        requirements = StackRequirement.of(declared.requirement, _origin(declared))
        if packages.get(declared.name) is None:
            outside[declared.name] = (*outside.get(declared.name, ()), *requirements)
        else:
            kept = kept_clauses(declared.requirement.specifier)
            roots += (replace(one, specifier=kept, unmoved=True) for one in requirements)
    for declared in _constraints(request, lock_state):
        if packages.get(declared.name) is None:
            limit, *_ = StackRequirement.of(declared.requirement, _origin(declared))
            outside[declared.name] = (*outside.get(declared.name, ()), limit)
    return _Declared(tuple(dict.fromkeys(roots)), outside)


def _origin(declared: DeclaredRequirement) -> str:
    return f"{declared.file} line {declared.line}"


def _overrides(request: Request, *, stack_too: bool) -> dict[str, SpecifierSet]:
    found = {}
    for declared in request.project.overrides:
        in_stack = request.graph.packages.get(declared.name) is not None
        if declared.requirement.specifier and (stack_too or not in_stack):
            found[declared.name] = declared.requirement.specifier
    return found


def _fixed(request: Request, lock_state: LockState) -> dict[str, str]:
    """Packages that can't move: kept by the user, or locked from a place that has one version."""
    fixed = dict.fromkeys(request.keep, "--keep")
    ours = _own_indexes(request, lock_state.lock)
    for stack in lock_state.stacks:
        for piece in stack:
            reason = _fixed_source(piece, ours)
            if reason is not None:
                fixed.setdefault(piece.name, reason)
    for name in _url_requirements(request):
        fixed.setdefault(name, "a direct URL in pyproject.toml")
    return fixed


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
