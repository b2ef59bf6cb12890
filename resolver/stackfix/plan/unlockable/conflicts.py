"""Extras and groups that exclude each other: by the project's own word, or by what they ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from packaging.specifiers import SpecifierSet

from stackfix.plan.edits.scope import item_of
from stackfix.plan.request import Request
from stackfix_index.names import normalized
from stackfix_lockfiles.lock import ConflictItem
from stackfix_lockfiles.requirement import DeclaredRequirement

__all__ = ["Item", "chosen", "conflicts", "locked_apart", "rivals_over"]

Item = tuple[str | None, str | None]
"""An extra, or a group."""


def chosen(request: Request) -> frozenset[Item]:
    """The extras and groups that the plan is asked for, the default groups among them."""
    project = request.project
    default = project.default_groups
    every = {d.group for d in project.requirements if d.group}
    groups = every if default == "all" else {*request.groups, *default}
    extras = {d.extra for d in project.requirements if d.extra}
    wanted = extras if request.all_extras else set(request.extras)
    return frozenset(
        {
            *((normalized(extra), None) for extra in wanted),
            *((None, normalized(group)) for group in groups),
        }
    )


def conflicts(request: Request) -> tuple[tuple[Item, ...], ...]:
    """The sets of `tool.uv.conflicts`, as far as they are readable: uv says what is not."""
    sets = request.project.main.table("tool", "uv").get("conflicts", [])
    return tuple(
        tuple(_item(entry) for entry in rivals if isinstance(entry, Mapping))
        for rivals in (sets if isinstance(sets, list) else ())
        if isinstance(rivals, list)
    )


def locked_apart(request: Request) -> Iterator[frozenset[Item]]:
    """What is left out of each lock that uv makes: of every set in `tool.uv.conflicts` all but one.

    The lock of what is chosen comes first; then those of the alternatives, one after the other.
    """
    kept, sets = chosen(request), conflicts(request)
    left_out = frozenset(item for rivals in sets for item in rivals if item not in kept)
    yield left_out
    for item in sorted(left_out, key=str):
        against = {other for rivals in sets if item in rivals for other in rivals}
        yield (left_out | against) - {item}


def rivals_over(
    request: Request, package: str, one: DeclaredRequirement, other: DeclaredRequirement
) -> tuple[ConflictItem, ...]:
    """The extras and groups that clash over a package and could be declared to exclude each other.

    `one` and `other` are what leads to the clash. None where it is not between two extras or
    groups, where the plan is asked for both, or where one of them is a default group.
    """
    project = request.project
    items = [item_of(one, project), item_of(other, project)]
    found = [item for item in items if item is not None]
    if len(set(found)) < 2:
        return ()
    # A default group that excludes an extra would make `uv sync --extra …` fail.
    unasked = chosen(replace(request, extras=(), groups=(), all_extras=False))
    if any((item.extra, item.group) in unasked for item in found):
        return ()
    for declared in project.requirements:
        item = item_of(declared, project)
        if declared.name != package or item is None or item in found:
            continue
        if all(_exclude(declared, known) for known in _asking(request, package, found)):
            found.append(item)
    both = [item for item in found if (item.extra, item.group) in chosen(request)]
    return tuple(found) if len(both) < 2 else ()


def _asking(request: Request, package: str, items: list[ConflictItem]) -> list[DeclaredRequirement]:
    project = request.project
    return [d for d in project.requirements if d.name == package and item_of(d, project) in items]


def _exclude(one: DeclaredRequirement, other: DeclaredRequirement) -> bool:
    """Whether no version meets both."""
    joint: SpecifierSet = one.requirement.specifier & other.requirement.specifier
    return joint.is_unsatisfiable()


def _item(entry: Mapping[str, object]) -> Item:
    extra, group = entry.get("extra"), entry.get("group")
    return (
        normalized(extra) if isinstance(extra, str) else None,
        normalized(group) if isinstance(group, str) else None,
    )
