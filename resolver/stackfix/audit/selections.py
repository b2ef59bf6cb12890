"""Which choices of extras and groups a lock is judged for.

What can be installed together is judged together; what `conflicts` declare apart is judged in every
largest choice that they admit. uv's own rule: of each declared set at most one may be on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from stackfix.model.selection import Selection
from stackfix_index.names import normalized
from stackfix_lockfiles.lock import ConflictItem, Lock, LockedPackage

__all__ = ["MOST", "InstallChoice", "choices", "chosen_groups", "every_choice", "plain_choice"]

MOST = 64
"""Choices judged of one lock; of more, each extra and group is still in one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallChoice:
    """The extras and groups of one environment."""

    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    plain: bool = False
    """Whether it is what `uv sync` takes without being told anything."""

    @property
    def label(self) -> str:
        """ "extra cu128, group test"; empty for the plain one."""
        if self.plain:
            return ""
        parts = [("extra", self.extras), ("group", self.groups)]
        return ", ".join(
            f"{word if len(names) == 1 else word + 's'} {' + '.join(names)}"
            for word, names in parts
            if names
        )


@dataclass(frozen=True, slots=True, order=True)
class _Option:
    kind: str
    name: str


def plain_choice(lock: Lock, default_groups: tuple[str, ...] | str) -> InstallChoice:
    """What `uv sync` takes."""
    known = _groups(lock)
    if default_groups == "all":
        return InstallChoice(groups=tuple(known), plain=True)
    chosen = {normalized(group) for group in default_groups}
    return InstallChoice(groups=tuple(group for group in known if group in chosen), plain=True)


def choices(
    lock: Lock, selection: Selection, default_groups: tuple[str, ...] | str = ("dev",)
) -> tuple[InstallChoice, ...]:
    """The choices of extras and groups that a selection means, the plainest first."""
    if selection.every:
        return every_choice(lock, default_groups)
    plain = plain_choice(lock, default_groups)
    if not (selection.extras or selection.groups or selection.all_extras):
        return (plain,)
    extras = (
        tuple(_extras(lock))
        if selection.all_extras
        else tuple(dict.fromkeys(normalized(extra) for extra in selection.extras))
    )
    groups: tuple[str, ...] = plain.groups
    if selection.groups:
        asked = tuple(normalized(group) for group in selection.groups)
        groups = chosen_groups(asked, plain.groups, lock)
    return (InstallChoice(extras=extras, groups=tuple(dict.fromkeys(groups))),)


def chosen_groups(asked: tuple[str, ...], default: Iterable[str], lock: Lock) -> tuple[str, ...]:
    """The groups asked for beside the default ones, all names normalised.

    A default group gives way to one that excludes it, as `uv sync --no-group` would make it.
    """
    excluded = {
        item.group
        for conflict in lock.conflicts
        if {*asked} & {item.group for item in conflict}
        for item in conflict
    }
    return (*(group for group in default if group not in excluded or group in asked), *asked)


def every_choice(
    lock: Lock, default_groups: tuple[str, ...] | str = ("dev",)
) -> tuple[InstallChoice, ...]:
    """The plain choice, then the largest ones that nothing forbids."""
    options = [_Option("extra", name) for name in _extras(lock)]
    options += [_Option("group", name) for name in _groups(lock)]
    apart = _apart(lock, options)
    installable = [option for option in options if option not in apart.get(option, ())]
    found = dict.fromkeys([plain_choice(lock, default_groups)])
    seen = {(one.extras, one.groups) for one in found}
    for choice in _largest(installable, apart):
        chosen = InstallChoice(
            extras=tuple(o.name for o in choice if o.kind == "extra"),
            groups=tuple(o.name for o in choice if o.kind == "group"),
        )
        if (chosen.extras, chosen.groups) not in seen:
            seen.add((chosen.extras, chosen.groups))
            found[chosen] = None
    return tuple(found)


def singly(choice: InstallChoice) -> Iterator[InstallChoice]:
    """Each extra and group of a choice alone: for one that cannot be installed as a whole."""
    for extra in choice.extras:
        yield InstallChoice(extras=(extra,))
    for group in choice.groups:
        yield InstallChoice(groups=(group,))


def _roots(lock: Lock) -> tuple[LockedPackage, ...]:
    return (lock.root,) if lock.root is not None else lock.members


def _extras(lock: Lock) -> list[str]:
    return sorted({extra for root in _roots(lock) for extra in root.optional_dependencies})


def _groups(lock: Lock) -> list[str]:
    names = {group for root in _roots(lock) for group in root.dev_dependencies}
    return sorted(names | set(lock.manifest.dependency_groups))


def _apart(lock: Lock, options: Iterable[_Option]) -> Mapping[_Option, set[_Option]]:
    """Which options exclude which; one that excludes itself can never be chosen."""
    if not lock.conflicts:
        return {}
    turned_on = {option: _turned_on(lock, option) for option in options}
    always = {ConflictItem(root.name) for root in _roots(lock)}
    apart: dict[_Option, set[_Option]] = {}
    for conflict in lock.conflicts:
        members = set(conflict)
        held = [(option, items & members) for option, items in turned_on.items() if items & members]
        for option, items in held:
            if len(items | (always & members)) > 1:
                apart.setdefault(option, set()).add(option)
            for other, others in held:
                if other != option and len(items | others) > 1:
                    apart.setdefault(option, set()).add(other)
    return apart


def _turned_on(lock: Lock, option: _Option) -> set[ConflictItem]:
    """What an option puts on: itself, and the extras of members that it names."""
    items: set[ConflictItem] = set()
    todo = [(root, option) for root in _roots(lock)]
    members = {member.name: member for member in lock.members}
    seen = set()
    while todo:
        step = todo.pop()
        if step in seen:
            continue
        seen.add(step)
        package, current = step
        if current.kind == "extra":
            edges = package.optional_dependencies.get(current.name)
            item = ConflictItem(package.name, extra=current.name)
        else:
            edges = package.dev_dependencies.get(current.name)
            item = ConflictItem(package.name, group=current.name)
        if edges is None:
            continue
        items.add(item)
        for edge in edges:
            if edge.name in members:
                todo += [(members[edge.name], _Option("extra", name)) for name in edge.extras]
    return items


def _largest(
    options: list[_Option], apart: Mapping[_Option, set[_Option]]
) -> Iterator[tuple[_Option, ...]]:
    """The largest choices without two that exclude each other, at most `MOST` of them."""
    free = [option for option in options if not apart.get(option)]
    bound = [option for option in options if apart.get(option)]
    if not bound:
        yield tuple(free)
        return
    covered: set[_Option] = set()
    for chosen in islice(_independent(bound, apart), MOST):
        covered |= chosen
        yield (*free, *sorted(chosen))
    for option in bound:
        if option not in covered:
            around = {option}
            for other in bound:
                if other not in around and not around & apart[other]:
                    around.add(other)
            covered |= around
            yield (*free, *sorted(around))


def _independent(
    options: list[_Option], apart: Mapping[_Option, set[_Option]]
) -> Iterator[frozenset[_Option]]:
    """Maximal sets without a forbidden pair (Bron and Kerbosch on the graph of what fits)."""
    fits = {
        one: {other for other in options if other != one and other not in apart[one]}
        for one in options
    }
    stack = [(frozenset[_Option](), frozenset(options), frozenset[_Option]())]
    while stack:
        chosen, possible, done = stack.pop()
        if not possible:
            if not done:
                yield chosen
            continue
        pivot = max(possible | done, key=lambda one: (len(fits[one] & possible), one))
        branches = []
        for one in sorted(possible - fits[pivot]):
            branches.append((chosen | {one}, possible & fits[one], done & fits[one]))
            possible, done = possible - {one}, done | {one}
        stack.extend(reversed(branches))
