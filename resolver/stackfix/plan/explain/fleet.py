"""A fleet that no single lock serves: the fewest groups of targets that each have one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from stackfix.model.target import Target
from stackfix_knowledge.wheels.indexes import IndexTable

__all__ = ["GroupRequirements", "smallest_split", "uv_sketch"]

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


@dataclass(frozen=True, slots=True)
class GroupRequirements:
    """What one group of targets would ask for."""

    requirements: tuple[str, ...]
    indexes: Mapping[str, str]
    """The packages that come from one of PyTorch's indexes, with its name."""


def uv_sketch(
    groups: Sequence[Sequence[Target]], stacks: Sequence[GroupRequirements], table: IndexTable
) -> str:
    """How uv expresses several stacks in one project: an extra for each, declared as conflicting.

    A package that a stack takes from one of PyTorch's indexes has a source for that extra.
    """
    names = _distinct([_extra_name(group, number) for number, group in enumerate(groups, 1)])
    lines = ["[project.optional-dependencies]"]
    sources: dict[str, list[str]] = {}
    for name, stack in zip(names, stacks, strict=True):
        requirements = ", ".join(f'"{text}"' for text in stack.requirements)
        lines.append(f"{name} = [{requirements}]")
        for package, index in stack.indexes.items():
            source = f'{{ index = "pytorch-{index}", extra = "{name}" }}'
            sources.setdefault(package, []).append(source)
    alternatives = ", ".join(f'{{ extra = "{name}" }}' for name in names)
    lines += ["", "[tool.uv]", f"conflicts = [[{alternatives}]]"]
    if sources:
        lines += ["", "[tool.uv.sources]"]
        lines += (f"{package} = [{', '.join(each)}]" for package, each in sources.items())
    for index in sorted({index for stack in stacks for index in stack.indexes.values()}):
        url = table.url(index)
        lines += ["", "[[tool.uv.index]]", f'name = "pytorch-{index}"', f'url = "{url}"']
        lines.append("explicit = true")
    return "\n".join(lines)


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, numbered where two are alike: cards of one kind may have other drivers."""
    return [
        name if names.count(name) == 1 else f"{name}-{names[:at].count(name) + 1}"
        for at, name in enumerate(names)
    ]


def _extra_name(group: Sequence[Target], number: int) -> str:
    """ "sm120" for a group of one kind of card, else "gpus1"."""
    kinds = {str(target.capability).replace(".", "") for target in group}
    return f"sm{kinds.pop()}" if len(kinds) == 1 else f"gpus{number}"
