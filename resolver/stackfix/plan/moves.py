"""From two locks to moves: what changed version, why, in which fork, by which edits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stackfix.model.finding import Severity
from stackfix.plan.attempt import Attempt
from stackfix.plan.case import Case
from stackfix.plan.lock_state import LockState
from stackfix.plan.plan import Move, VariantChange
from stackfix_index.names import normalized
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.packages import Role
from stackfix_lockfiles.diff import Fork, PackageChange
from stackfix_lockfiles.edits import Edit
from stackfix_lockfiles.requirement import full_requirement

__all__ = ["moves"]

ALONG = "uv moves it along with the packages above"


def moves(changes: Iterable[PackageChange], case: Case, made: Attempt) -> tuple[Move, ...]:
    """Every change of version, index or variant: causes first, then what they drag along."""
    variants = _variants(made)
    found = list(_from_asked(case, made))
    changed = set(case.asked)
    for change in changes:
        if change.name in case.asked:
            continue
        changed.add(change.name)
        variant = variants.get(change.name)
        cause = _cause(change.name, case, leaves=not change.new, variant=variant)
        before, after = _versions(change.old), _versions(change.new)
        fork = None if variant is not None else _fork(change, case.before, made.after)
        if made.where.chosen:  # the other extras' forks are in the lock too, and not the matter
            own = _installed(case.before, change.name), _installed(made.after, change.name)
            if own[0] != own[1]:
                before, after, fork = *own, str(made.where)
        found.append(
            Move(
                package=change.name,
                before=before,
                after=after,
                because=cause or _dragged(change.name, made, leaves=not change.new),
                dragged=cause is None,
                fork=fork,
                index=_index(change),
                variant=variant,
                edits=tuple(e for e in made.edits if _concerns(e, change.name)),
            )
        )
    for name, variant in variants.items():
        if name not in changed and (version := _installed(made.after, name)) is not None:
            cause = _cause(name, case, leaves=False, variant=variant)
            found.append(
                Move(
                    package=name,
                    before=_installed(case.before, name),
                    after=version,
                    because=cause or "--require asks for it",
                    fork=str(made.where) or None,
                    variant=variant,
                    edits=tuple(e for e in made.edits if _concerns(e, name)),
                )
            )
    return tuple(sorted(found, key=lambda move: _order(move, case.request.graph)))


def _variants(made: Attempt) -> dict[str, VariantChange]:
    """By package, the variants that the project asks for in place of others."""
    swap = made.problem.variant_swap
    found = {}
    for key, new in swap.swaps.items() if swap is not None else ():
        change = VariantChange(before=str(key), after=str(new))
        found[key.name] = change
        if made.problem.locked.get(new.package) is None:
            found[new.package] = change
    return found


def _from_asked(case: Case, made: Attempt) -> Iterator[Move]:
    """The moves of a project that uv cannot lock: from what it asks for to what can be had."""
    for name, asked in case.asked.items():
        installed = [piece.version for s in made.after.stacks if (piece := s.get(name))]
        if installed and all(asked.met_by(version) for version in installed):
            continue
        after = _installed(made.after, name)
        own = [fault for fault in case.faults if fault.package == name]
        clash = case.clashing.get(name)
        cause = f"{clash.code}: {clash.message}" if clash and not own else None
        cause = cause or _cause(name, case, leaves=after is None)
        yield Move(
            package=name,
            before=asked.text,
            after=after,
            because=cause or _dragged(name, made, leaves=after is None),
            dragged=cause is None,
            asked=True,
            edits=tuple(e for e in made.edits if _concerns(e, name)),
        )


def _versions(forks: Iterable[Fork]) -> str | None:
    """The versions of all forks, "9.10.1.4, 9.5.1.17"; None where there is none."""
    return ", ".join(dict.fromkeys(fork.version or "dynamic" for fork in forks)) or None


def _installed(lock_state: LockState, name: str) -> str | None:
    """The versions that the environments install."""
    environments = (stack.environment for stack in lock_state.stacks)
    packages = (e.packages.get(name) for e in environments if e is not None)
    return ", ".join(dict.fromkeys(p.version or "dynamic" for p in packages if p)) or None


def _index(change: PackageChange) -> str | None:
    """The index that the package comes from now, where that is another one than before."""
    return change.new[0].source.index if change.index_changed else None


def _concerns(edit: Edit, name: str) -> bool:
    """Whether an edit is about that package."""
    if edit.package is not None:
        return normalized(edit.package) == name
    requirements = (full_requirement(text) for text in (edit.old, edit.new) if text)
    return any(r is not None and normalized(r.name) == name for r in requirements)


def _cause(
    name: str, case: Case, *, leaves: bool, variant: VariantChange | None = None
) -> str | None:
    """The finding that the move clears, errors before warnings.

    A framework, or another variant of a product, can have none of its own and still be what moves:
    then it is the first error that the moves clear together, such as two wheels that install the
    same file.
    """
    names = {name} if variant is None else {name, variant.before}
    own = [f for f in case.findings if f.package in names]
    package = case.request.graph.packages.get(name)
    is_fault = case.request.policy.is_fault
    leads = variant is not None or (package is not None and package.role is Role.FRAMEWORK)
    if leads and not any(map(is_fault, own)):
        own = [*own, *case.faults[:1]]
    told = [f for f in own if f.severity is not Severity.INFO]
    if not told or (leaves and not any(map(is_fault, told))):
        return None
    return f"{told[0].code}: {told[0].message}"


def _dragged(name: str, made: Attempt, *, leaves: bool) -> str:
    if leaves:
        return "nothing needs it any more"
    return made.solution.because.get(name, ALONG)


def _fork(change: PackageChange, before: LockState, after: LockState) -> str | None:
    """Where the change is confined to forks that no target installs, says so."""
    installed = {
        str(piece.version)
        for lock_state in (before, after)
        for stack in lock_state.stacks
        if (piece := stack.get(change.name)) is not None
    }
    changed = {fork.version for fork in (*change.removed, *change.added)}
    if not installed or installed & changed:
        return None
    return "forks that no target installs"


def _order(move: Move, graph: Graph) -> tuple[int, int, str]:
    package = graph.packages.get(move.package)
    roles = ["framework", "companion", "library"]
    role = roles.index(package.role) if package and package.role in roles else len(roles)
    return (role, int(move.dragged), move.package)
