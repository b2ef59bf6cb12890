"""Where a move holds: everywhere, or in the chosen ones of extras and groups that exclude others.

A project with the extras cpu, cu126 and cu128 in conflict has a stack for each. A plan for cu128
moves that one; the others stay as their users have them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from packaging.version import Version

from stackfix.plan.request import Request
from stackfix_index.names import normalized
from stackfix_lockfiles.lock import ConflictItem, Lock
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.requirement import DeclaredRequirement

__all__ = ["EVERYWHERE", "Scope", "item_of", "scope"]


@dataclass(frozen=True, slots=True)
class Scope:
    """The chosen extras and groups, and those that they exclude. Empty: everywhere."""

    chosen: tuple[ConflictItem, ...] = ()
    rivals: frozenset[ConflictItem] = frozenset()

    def reaches(self, declared: DeclaredRequirement, project: Project) -> bool:
        """Whether a requirement may be edited for the move."""
        return item_of(declared, project) not in self.rivals

    def owns(self, declared: DeclaredRequirement, project: Project) -> bool:
        """Whether a requirement belongs to the chosen ones alone."""
        return item_of(declared, project) in self.chosen

    def __str__(self) -> str:
        """`extra cu128`; empty for everywhere."""
        return ", ".join(
            f"extra {item.extra}" if item.extra else f"group {item.group}" for item in self.chosen
        )


EVERYWHERE = Scope()


def scope(request: Request, lock: Lock, versions: Mapping[str, Version]) -> Scope:
    """Where these versions hold.

    Everywhere, if nothing chosen excludes anything, or if a requirement that all share (the
    project's own dependencies, a constraint) has to be edited: then the others must follow.
    """
    chosen: list[ConflictItem] = []
    rivals: set[ConflictItem] = set()
    default = request.project.default_groups
    groups = request.groups_in(lock) or (() if default == "all" else default)
    names = {normalized(group) for group in groups}
    for conflict in lock.conflicts:
        on = [item for item in conflict if _is_chosen(item, request, names)]
        chosen += on
        rivals |= set(conflict).difference(on) if on else set()
    found = Scope(tuple(dict.fromkeys(chosen)), frozenset(rivals))
    project = request.project
    for declared in (*project.requirements, *project.constraints):
        if item_of(declared, project) in rivals or found.owns(declared, project):
            continue
        version = versions.get(declared.name)
        specifier = declared.requirement.specifier
        if version is not None and not specifier.contains(version.public, prereleases=True):
            return EVERYWHERE
    return found


def item_of(declared: DeclaredRequirement, project: Project) -> ConflictItem | None:
    """The extra or group that brings a requirement in."""
    name = next((file.name for file in project.files if file.path == declared.file), None)
    if name is None or (declared.extra is None and declared.group is None):
        return None
    return ConflictItem(name, extra=declared.extra, group=declared.group)


def _is_chosen(item: ConflictItem, request: Request, groups: Collection[str]) -> bool:
    if item.extra is not None:
        return item.extra in {normalized(extra) for extra in request.extras}
    return item.group is not None and item.group in groups
