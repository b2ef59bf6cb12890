"""A lock without a graph: packages, each with the marker under which it is installed."""

from __future__ import annotations

from dataclasses import dataclass

from stackfix.audit.selections import InstallChoice
from stackfix_lockfiles.environment import Environment, Link
from stackfix_lockfiles.lock import LockedPackage
from stackfix_lockfiles.markers import Marker, Truths
from stackfix_lockfiles.platforms import Platform

__all__ = ["FlatLock", "FlatPackage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatPackage:
    """One package, where it stands in the file, and when it is installed."""

    locked: LockedPackage
    line: int
    marker: Marker | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatLock:
    """A requirements.txt or a pylock.toml."""

    name: str
    """How errors call it."""
    requires_python: str
    entries: tuple[FlatPackage, ...]
    choices: tuple[InstallChoice, ...] = (InstallChoice(plain=True),)
    open_ended: bool = False
    """Whether an installer adds what the packages need beyond what is listed."""

    @property
    def packages(self) -> tuple[LockedPackage, ...]:
        return tuple(entry.locked for entry in self.entries)

    def line_of(self, package: LockedPackage) -> int | None:
        """The line of a package; None for one of another lock."""
        return next((entry.line for entry in self.entries if entry.locked is package), None)

    def walk(self, platform: Platform, python: str, choice: InstallChoice) -> Environment:
        """What an installer takes here: the first entry of each name whose marker holds."""
        full = python if python.count(".") >= 2 else f"{python}.99"
        markers = dict(platform.markers(full))
        on = [f"extra:{extra}" for extra in choice.extras]
        on += [f"group:{group}" for group in choice.groups]
        truths = Truths(markers, frozenset(on))
        packages: dict[str, LockedPackage] = {}
        for entry in self.entries:
            if entry.marker is None or entry.marker.holds(truths):
                packages.setdefault(entry.locked.name, entry.locked)
        return Environment(
            platform=platform,
            python=full,
            extras_on={},
            groups=frozenset(choice.groups),
            roots=(),
            packages=packages,
            links=tuple(Link(parent=None, child=name) for name in packages),
            open_ended=self.open_ended,
            _parents=dict.fromkeys(packages),
        )
