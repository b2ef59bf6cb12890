"""The walk over a lock's edges: what is on, what was seen, what comes next."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import combinations

from stackfix_index.names import normalized
from stackfix_lockfiles import markers
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import ConflictItem, Lock
from stackfix_lockfiles.packages import Dependency, LockedPackage, LockedRequirement

__all__ = ["ConflictError", "Link", "Walk"]


class ConflictError(InputError):
    """Extras or groups were chosen (or an edge turned them on) that the project declares to exclude
    each other. uv refuses them as well.

    Attributes:
        items: the two that conflict.
    """

    def __init__(self, lock: Lock, position: int, items: tuple[ConflictItem, ConflictItem]) -> None:
        self.items = items
        first, second = items
        expected = f"expected at most one of {first} and {second}: they are declared as conflicting"
        super().__init__(lock.name, expected, place=f"conflicts[{position}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One edge that was followed."""

    parent: str | None
    """None where the workspace itself asks for it (requirements without a root project)."""
    child: str
    extra: str | None = None
    """The extra of the parent that brings it."""
    group: str | None = None
    """The dependency group that brings it."""


_Step = tuple[LockedPackage, str | None]


class Walk:
    """One walk. Fields are its state; `run` fills `packages`, `parents`, `links`, `extras_on`."""

    def __init__(
        self,
        lock: Lock,
        truths: markers.Truths,
        roots: tuple[LockedPackage, ...],
        production: bool,
    ) -> None:
        self.lock = lock
        self.truths = truths
        self.roots = roots
        self.production = production
        self.root_extras: dict[str, list[str]] = {}
        self.groups: set[str] = set()
        self.items = {item for conflict in lock.conflicts for item in conflict}
        self.active: set[ConflictItem] = set()
        self.queue: deque[_Step] = deque()
        self.seen: set[_Step] = set()
        self.packages: dict[str, LockedPackage] = {}
        self.parents: dict[str, str | None] = {}
        self.extras_on: dict[str, set[str]] = {}
        self.links: list[Link] = []
        self.surplus: list[LockedPackage] = []

    def choose_extras(self, wanted: set[str], every: bool) -> None:
        """Select the roots' extras; InputError for one that no root has."""
        known: set[str] = set()
        for root in self.roots:
            offered = set(root.optional_dependencies)
            known |= offered | set(root.metadata.provides_extras if root.metadata else ())
            self.root_extras[root.name] = sorted(offered if every else offered & wanted)
        _refuse_unknown(self.lock, "an extra", wanted - known, known)

    def choose_groups(
        self, wanted: Collection[str] | None, default: Collection[str] | str, every: bool
    ) -> None:
        """Select the dependency groups; InputError for one that exists nowhere."""
        known = set(self.lock.manifest.dependency_groups)
        for root in self.roots:
            known |= set(root.dev_dependencies)
            known |= set(root.metadata.requires_dev if root.metadata else ())
        if every or (wanted is None and default == "all"):
            self.groups = known
        elif wanted is None:
            self.groups = {normalized(group) for group in default} & known
        else:
            self.groups = {normalized(group) for group in wanted}
            _refuse_unknown(self.lock, "a dependency group", self.groups - known, known)

    def run(self) -> None:
        """Walk; ConflictError if what is on excludes each other."""
        if self.lock.conflicts:
            self._activate_roots()
        self._start()
        if self.lock.conflicts:
            self._activate_reachable()
        while self.queue:
            package, extra = self.queue.popleft()
            for dependency in _edges(package, extra):
                if self._holds(dependency):
                    self._follow(dependency, parent=package.name, extra=extra)

    def _activate_roots(self) -> None:
        for root in self.roots:
            if self.production:
                self._activate(ConflictItem(root.name))
                for extra in self.root_extras[root.name]:
                    self._activate(ConflictItem(root.name, extra=extra))
            for group in root.dev_dependencies:
                if group in self.groups:
                    self._activate(ConflictItem(root.name, group=group))
        self._refuse_conflicts()
        self._renew()

    def _activate(self, item: ConflictItem) -> bool:
        if item not in self.items or item in self.active:
            return False
        self.active.add(item)
        return True

    def _renew(self) -> None:
        self.truths = self.truths.with_extras(frozenset(item.pseudo_extra for item in self.active))

    def _refuse_conflicts(self) -> None:
        for position, conflict in enumerate(self.lock.conflicts):
            chosen = sorted(self.active.intersection(conflict), key=str)
            for pair in combinations(chosen, 2):
                raise ConflictError(self.lock, position, pair)

    def _start(self) -> None:
        for root in self.roots:
            if self.production:
                self._add(root, None)
                self._enqueue(root, self.root_extras[root.name])
        for root in self.roots:
            for group, dependencies in root.dev_dependencies.items():
                if group in self.groups:
                    for dependency in dependencies:
                        if self._holds(dependency):
                            self._follow(dependency, parent=root.name, group=group)
        manifest = self.lock.manifest
        self._start_from(manifest.requirements, None)
        for group, requirements in manifest.dependency_groups.items():
            if group in self.groups:
                self._start_from(requirements, group)

    def _start_from(self, requirements: Iterable[LockedRequirement], group: str | None) -> None:
        for requirement in requirements:
            if requirement.marker and not self.lock.marker(requirement.marker).holds(self.truths):
                continue
            for package in self.lock.named(requirement.name):
                if self._is_in_fork(package):
                    self._add(package, None)
                    self.links.append(Link(parent=None, child=package.name, group=group))
                    self._enqueue(package, requirement.extras)

    def _is_in_fork(self, package: LockedPackage) -> bool:
        forks = package.resolution_markers
        return not forks or any(self.lock.marker(text).holds(self.truths) for text in forks)

    def _activate_reachable(self) -> None:
        """Turn on what edges turn on, in a walk of its own, then refuse what conflicts."""
        queue, seen = self.queue.copy(), set(self.seen)
        while queue:
            package, extra = queue.popleft()
            for dependency in _edges(package, extra):
                added = [
                    item
                    for name in dependency.extras
                    if self._activate(item := ConflictItem(dependency.name, extra=name))
                ]
                if added:
                    self._renew()
                if not self._holds(dependency):
                    if added:
                        self.active.difference_update(added)
                        self._renew()
                    continue
                target = self.lock.target(dependency)
                for step in ((target, None), *((target, name) for name in dependency.extras)):
                    if step not in seen:
                        seen.add(step)
                        queue.append(step)
        self._refuse_conflicts()

    def _holds(self, dependency: Dependency) -> bool:
        marker = dependency.marker
        return marker is None or self.lock.marker(marker).holds(self.truths)

    def _follow(
        self,
        dependency: Dependency,
        *,
        parent: str,
        extra: str | None = None,
        group: str | None = None,
    ) -> None:
        package = self.lock.target(dependency)
        self._add(package, parent if parent in self.packages else None)
        self.links.append(
            Link(
                parent=parent if parent in self.packages else None,
                child=package.name,
                extra=extra,
                group=group,
            )
        )
        self._enqueue(package, dependency.extras)

    def _add(self, package: LockedPackage, parent: str | None) -> None:
        known = self.packages.setdefault(package.name, package)
        if known is not package and package not in self.surplus:
            self.surplus.append(package)
        self.parents.setdefault(package.name, parent)

    def _enqueue(self, package: LockedPackage, extras: Iterable[str]) -> None:
        on = self.extras_on.setdefault(package.name, set())
        for extra in (None, *extras):
            if extra is not None:
                on.add(extra)
            step = (package, extra)
            if step not in self.seen:
                self.seen.add(step)
                self.queue.append(step)


def _edges(package: LockedPackage, extra: str | None) -> tuple[Dependency, ...]:
    if extra is None:
        return package.dependencies
    return package.optional_dependencies.get(extra, ())


def _refuse_unknown(lock: Lock, what: str, unknown: set[str], known: set[str]) -> None:
    if unknown:
        listed = ", ".join(sorted(known)) or "none"
        found = ", ".join(sorted(unknown))
        raise InputError(lock.name, f"expected {what} of the project ({listed}), found {found}")
