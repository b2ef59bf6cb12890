"""What packages that stay ask of the stack, which the solve has to keep.

A lock names who depends on whom, without the versions they admit, so those come from the wheels'
metadata on the index (or its cache). What could not be read is said, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from stackfix.plan.lock_state import LockState
from stackfix.solve.terms import PackageKey, StackRequirement
from stackfix_index.names import normalized
from stackfix_lockfiles.lock import LockedPackage
from stackfix_lockfiles.requirement import full_requirement

__all__ = ["OutsideRequirements", "dependents", "outside_requirements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideRequirements:
    """What the packages outside the stack ask of packages inside it."""

    requirements: tuple[StackRequirement, ...]
    unread: tuple[str, ...]
    """Packages whose requirements could not be read, `name==version`."""

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


def outside_requirements(
    lock_state: LockState,
    packages: Mapping[str, LockedPackage],
    requires: Mapping[str, tuple[str, ...] | None],
) -> OutsideRequirements:
    """What `requires` (Requires-Dist by package, None: not read) asks of the stack.

    Where metadata was not read, the lock's own edge still says that the package is needed.
    """
    requirements: list[StackRequirement] = []
    unread: list[str] = []
    for name, package in sorted(packages.items()):
        origin = f"{name} {package.version}"
        lines = requires.get(name)
        if lines is None:
            unread.append(str(package))
            requirements += _edges(lock_state, package, origin)
            continue
        requirements += _stated(lock_state, lines, origin)
    return OutsideRequirements(
        requirements=tuple(dict.fromkeys(requirements)), unread=tuple(unread)
    )


def _stated(lock_state: LockState, lines: Iterable[str], origin: str) -> Iterable[StackRequirement]:
    """What metadata says of packages of the stack."""
    stack_names = lock_state.gpu_packages
    for line in lines:
        requirement = full_requirement(line)
        if requirement is None or normalized(requirement.name) not in stack_names:
            continue
        # Without extras: what stays asks no more than it did.
        if any(environment.holds(requirement.marker) for environment in lock_state.environments):
            yield from StackRequirement.of(requirement, origin, unmoved=True)


def _edges(
    lock_state: LockState, package: LockedPackage, origin: str
) -> Iterable[StackRequirement]:
    """What the lock itself says: which packages of the stack it needs, at any version."""
    stack_names = lock_state.gpu_packages
    for dependency in package.dependencies:
        if dependency.name in stack_names:
            for extra in ("", *dependency.extras):
                key = PackageKey(dependency.name, extra)
                yield StackRequirement(key, SpecifierSet(), origin, unmoved=True)
