"""A lock of a project that uv cannot lock: with the project's own limits on the stack set aside.

It is no result. It tells what a lock alone can tell: forks, markers, and the packages around the
stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from stackfix.errors import StackfixError
from stackfix.plan.request import Request
from stackfix.plan.unlockable.clashes import Clash
from stackfix.plan.unlockable.wording import quoted
from stackfix.solve.specifier import kept_clauses, written
from stackfix_knowledge.stack.packages import Role
from stackfix_lockfiles.edits import Edit, apply_edits, replace_requirement
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.relock import Unsolvable, relock
from stackfix_lockfiles.requirement import DeclaredRequirement

__all__ = ["Relaxed", "Unlockable", "relaxed_lock"]


class Unlockable(StackfixError):
    """uv cannot lock the project, whatever versions the GPU stack has."""

    def __init__(self, place: str, reason: str) -> None:
        self.reason = reason
        """uv's words."""
        super().__init__(
            f"{place}: expected requirements that uv can lock; even without the project's own "
            f"limits on the GPU stack, it says: {quoted(reason)}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxed:
    """A lock, and the packages whose limits were set aside for it."""

    lock: Lock
    names: frozenset[str]


def relaxed_lock(request: Request, found: Sequence[Clash], refusal: Unsolvable) -> Relaxed:
    """Lock with as few limits set aside as it takes.

    Raises:
        Unlockable: it does not lock without any of them either.
        IndexUnreachable, RelockRefused: uv could not go on.
    """
    project = request.project
    last = refusal
    for names in _stages(request, found):
        edits = tuple(_edits(request, names))
        request.say(f"locking without the project's limits on {', '.join(sorted(names))}")
        try:
            made = relock(
                project,
                apply_edits(project, edits),
                pins={},
                offline=request.offline,
                progress=request.progress,
            )
        except Unsolvable as again:
            last = again
            continue
        return Relaxed(lock=Lock.parse(made.lock), names=names)
    raise Unlockable(project.main.shown, last.reason)


def limited(request: Request) -> Iterator[DeclaredRequirement]:
    """The project's requirements and constraints that limit a package of the stack."""
    project = request.project
    for declared in (*project.requirements, *project.constraints):
        specifier = declared.requirement.specifier
        if (
            request.graph.packages.get(declared.name) is not None
            and declared.requirement.url is None
            and kept_clauses(specifier) != specifier
        ):
            yield declared


def _stages(request: Request, found: Sequence[Clash]) -> Iterator[frozenset[str]]:
    """What is set aside: what is known to clash; if that is not all, more, libraries first."""
    packages = request.graph.packages
    roles = {d.name: p.role for d in limited(request) if (p := packages.get(d.name))}
    wanted = frozenset(clash.set_aside for clash in found) & roles.keys()
    if wanted:
        yield wanted
    for role in (Role.LIBRARY, Role.COMPANION, Role.FRAMEWORK):
        more = wanted | {name for name, own in roles.items() if own is role}
        if more != wanted:
            wanted = more
            yield wanted


def _edits(request: Request, names: frozenset[str]) -> Iterator[Edit]:
    for declared in limited(request):
        if declared.name in names:
            left: SpecifierSet = kept_clauses(declared.requirement.specifier)
            yield replace_requirement(declared, written(left))
