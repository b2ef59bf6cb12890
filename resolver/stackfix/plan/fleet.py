"""A fleet that no single lock serves: the fewest groups of targets that each have one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from stackfix.targets.target import Target

__all__ = ["smallest_split", "uv_sketch"]

Thing = TypeVar("Thing")

EXHAUSTIVE = 7
"""Up to so many targets every split is tried; beyond, targets join the first group that fits."""


def smallest_split(
    targets: Sequence[Target], serves: Callable[[frozenset[Target]], bool]
) -> tuple[tuple[Target, ...], ...] | None:
    """Targets in as few groups as possible, so that each group has a plan; None: one has none.

    `serves` says whether a group has one. A group that has none cannot gain one by growing, which
    is what the search relies on.
    """
    if not all(serves(frozenset({target})) for target in targets):
        return None
    if len(targets) > EXHAUSTIVE:
        return _greedy(targets, serves)
    for count in range(1, len(targets) + 1):
        for groups in _splits(list(targets), count):
            if all(serves(frozenset(group)) for group in groups):
                return tuple(tuple(group) for group in groups)
    return None


def _splits(things: list[Thing], count: int) -> Iterator[list[list[Thing]]]:
    """Every way to put `things` into `count` groups, each once."""
    if not things:
        if count == 0:
            yield []
        return
    first, rest = things[0], things[1:]
    for groups in _splits(rest, count - 1):
        yield [[first], *groups]
    for groups in _splits(rest, count):
        for place in range(len(groups)):
            yield [*groups[:place], [first, *groups[place]], *groups[place + 1 :]]


def _greedy(
    targets: Sequence[Target], serves: Callable[[frozenset[Target]], bool]
) -> tuple[tuple[Target, ...], ...]:
    groups: list[list[Target]] = []
    for target in targets:
        for group in groups:
            if serves(frozenset({*group, target})):
                group.append(target)
                break
        else:
            groups.append([target])
    return tuple(tuple(group) for group in groups)


def uv_sketch(groups: Sequence[Sequence[Target]], pins: Sequence[Sequence[str]]) -> str:
    """How uv expresses several stacks in one project: an extra for each, declared as conflicting.

    `pins` holds the requirements of each group's frameworks.
    """
    names = [_extra_name(group, number) for number, group in enumerate(groups, 1)]
    lines = ["[project.optional-dependencies]"]
    for name, asked in zip(names, pins, strict=True):
        requirements = ", ".join(f'"{text}"' for text in asked)
        lines.append(f"{name} = [{requirements}]")
    alternatives = ", ".join(f'{{ extra = "{name}" }}' for name in names)
    return "\n".join([*lines, "", "[tool.uv]", f"conflicts = [[{alternatives}]]"])


def _extra_name(group: Sequence[Target], number: int) -> str:
    """ "sm120" for a group of one kind of card, else "gpus1"."""
    kinds = {str(target.capability).replace(".", "") for target in group}
    return f"sm{kinds.pop()}" if len(kinds) == 1 else f"gpus{number}"
