"""What packages that stay ask of the stack: limits that the solve has to keep.

A lock names who depends on whom, without the versions they admit, so those come from the wheels'
metadata on the index (or its cache). What could not be read is said, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from packaging.markers import Marker
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from stackfix.plan.lock_state import LockState
from stackfix.solve.problem import StackRequirement, parse_requirement
from stackfix_lockfiles.lock import LockedPackage

__all__ = ["Limits", "dependents", "limits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Demands of the packages outside the stack on packages inside it."""

    demands: tuple[StackRequirement, ...]
    unread: tuple[str, ...]
    """Packages whose limits could not be read, `name==version`."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line that says what was not read; none when all was."""
        if not self.unread:
            return ()
        names = ", ".join(self.unread)
        return (
            f"the version limits of {names} could not be read here: uv may refuse what they forbid",
        )


def dependents(lock_state: LockState) -> dict[str, LockedPackage]:
    """Packages outside the stack, members aside, that depend on a package of the stack."""
    found: dict[str, LockedPackage] = {}
    for stack in lock_state.stacks:
        environment = stack.environment
        if environment is None:
            continue
        for name, package in environment.packages.items():
            if name in stack.pieces or package.is_member:
                continue
            if any(target in stack.pieces for target in environment.edges.get(name, ())):
                found[name] = package
    return found


def limits(
    lock_state: LockState,
    packages: Mapping[str, LockedPackage],
    requires: Mapping[str, tuple[str, ...] | None],
) -> Limits:
    """The demands that `requires` (Requires-Dist by package, None: not read) makes on the stack.

    Where metadata was not read, the lock's own edge still says that the package is needed.
    """
    stack_names = lock_state.gpu_packages
    demands: list[StackRequirement] = []
    unread: list[str] = []
    for name, package in sorted(packages.items()):
        origin = f"{name} {package.version}"
        lines = requires.get(name)
        if lines is None:
            unread.append(str(package))
            demands += _edges(lock_state, package, origin)
            continue
        demands += _stated(lock_state, lines, stack_names, origin)
    return Limits(demands=tuple(dict.fromkeys(demands)), unread=tuple(unread))


def _stated(
    lock_state: LockState, lines: Iterable[str], stack_names: set[str], origin: str
) -> Iterable[StackRequirement]:
    for line in lines:
        requirement = parse_requirement(line)
        if requirement is None or canonicalize_name(requirement.name) not in stack_names:
            continue
        if _holds(requirement.marker, lock_state):
            yield from StackRequirement.of(requirement, origin, unmoved=True)


def _holds(marker: Marker | None, lock_state: LockState) -> bool:
    """Whether a marker holds on some target, without extras: extras of outsiders ask no more."""
    return marker is None or any(
        marker.evaluate({**environment.markers, "extra": ""})
        for environment in lock_state.environments
    )


def _edges(
    lock_state: LockState, package: LockedPackage, origin: str
) -> Iterable[StackRequirement]:
    """What the lock itself says: which packages of the stack it needs, at any version."""
    stack_names = lock_state.gpu_packages
    for dependency in package.dependencies:
        if dependency.name in stack_names:
            keys = [dependency.name, *(f"{dependency.name}[{e}]" for e in dependency.extras)]
            for key in keys:
                yield StackRequirement(key, SpecifierSet(), origin, None, True)
