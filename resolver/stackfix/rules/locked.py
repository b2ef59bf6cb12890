"""What the integrity rules judge: one environment of a lock, beside what its packages say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stackfix.rules.requires import DeclaredMetadata
from stackfix_lockfiles.environment import Environment
from stackfix_lockfiles.lock import LockedPackage, LockedRequirement
from stackfix_lockfiles.markers import Truths

__all__ = ["DeclaredEnvironment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredEnvironment:
    """An environment as the lock has it, and the requirements that its packages state."""

    environment: Environment
    truths: Truths
    """What the markers of metadata are evaluated with."""
    stated: Callable[[LockedPackage], DeclaredMetadata | None]
    """A package's own requirements; None where nobody read them."""
    is_stack: Callable[[str], bool]
    """Whether a name belongs to the GPU stack."""
    is_library: Callable[[str], bool]
    """Whether a name is one of NVIDIA's libraries, which frameworks load and do not contain."""
    overrides: Mapping[str, tuple[LockedRequirement, ...]]
    """The lock's overrides, by package."""
    excludes: frozenset[str] = frozenset()
    """Packages that the project leaves out wherever they are required."""

    def truths_of(self, package: LockedPackage) -> Truths:
        """The marker values for a package's own requirements: its extras are on."""
        extras = self.environment.extras_on.get(package.name)
        return self.truths.with_extras(extras) if extras else self.truths
