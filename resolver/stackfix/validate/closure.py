"""What of a lock goes into a scratch environment: the stack and all it needs, or everything."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from stackfix.errors import StackfixError
from stackfix.host.system import platform_name
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.environment import Environment, environment
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.packages import LockedFile, LockedPackage, SourceKind
from stackfix_lockfiles.platforms import Platform
from stackfix_lockfiles.project import Project

__all__ = [
    "CannotInstall",
    "Closure",
    "DiskShort",
    "InstallRequest",
    "closure",
    "environment_here",
    "kept_name",
]

_UNPACKED = 2.2
"""Bytes on disk for one byte of wheel: CUDA wheels unpack to 1.5 to 2 times their size."""


class CannotInstall(StackfixError):
    """The scratch environment could not be made; the text says why, in one line."""

    def __init__(self, reason: str, log: str = "") -> None:
        self.reason = reason
        self.log = log
        """What uv printed."""
        super().__init__(reason)


class DiskShort(StackfixError):
    """There is too little room for the scratch environment; nothing was downloaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallRequest:
    """What is to be installed."""

    project: Project
    lock: Lock
    files: Mapping[Path, bytes]
    """A plan's new files, by path below the project's root; empty for the project as it is."""
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    all_extras: bool = False
    everything: bool = False
    """Also what the stack does not need; builds what has no wheel."""
    offline: bool = False


def kept_name(request: InstallRequest) -> str:
    """The name of a kept folder: the same for the same lock and choice."""
    choice = (request.extras, request.groups, request.all_extras, request.everything)
    text = repr((str(request.project.root), request.lock.digest, *choice))
    return f"kept-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def environment_here(request: InstallRequest, python: str) -> Environment:
    """What `uv sync` would install here with this Python. Raises CannotInstall, InputError."""
    try:
        platform = Platform.parse(platform_name())
    except ValueError:
        raise CannotInstall(f"no lock can be installed on {platform_name()}") from None
    return environment(
        request.lock,
        platform=platform,
        python=python,
        extras=request.extras,
        groups=_groups(request),
        all_extras=request.all_extras,
        default_groups=request.project.default_groups,
    )


def _groups(request: InstallRequest) -> tuple[str, ...] | None:
    default = request.project.default_groups
    if not request.groups or default == "all":
        return None
    return (*default, *request.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """The packages to install and those to leave out."""

    packages: tuple[LockedPackage, ...]
    left_out: tuple[str, ...]
    """Names that `uv sync` is told not to install."""
    built: tuple[str, ...]
    """Packages without a wheel for this platform: left out, or with `everything` built."""
    in_place: tuple[str, ...]
    """Folders that the project names by an absolute path: a build would write in them."""
    sizes: Mapping[str, int | None]
    """Bytes of each package's wheel, as the lock has them; None: it does not tell."""

    def download(self, cached: Collection[str] = ()) -> int:
        """Bytes of wheels to fetch, without those that are `cached`."""
        return sum(size or 0 for name, size in self.sizes.items() if name not in cached)

    def disk(self, there: Collection[str] = ()) -> int:
        """Bytes that the packages take once unpacked, estimated; without those `there` already."""
        return int(self.download(there) * _UNPACKED)

    @property
    def unsized(self) -> int:
        """Wheels whose size the lock does not tell."""
        return sum(size is None for size in self.sizes.values())


def closure(environment: Environment, graph: Graph, *, everything: bool) -> Closure:
    """The stack's closure over the lock's edges; `everything` adds the project's own packages."""
    present = environment.installed
    stack = [name for name in present if graph.packages.get(name) is not None]
    wanted = set(present) if everything else _reached(stack, environment) & set(present)
    in_place = {name for name in wanted if _is_in_place(present[name])}
    wanted -= in_place
    wheels = {
        name: environment.platform.wheel(present[name], environment.python) for name in wanted
    }
    built = tuple(sorted(name for name, wheel in wheels.items() if wheel is None))
    if not everything:
        wanted -= set(built)
    return Closure(
        packages=tuple(present[name] for name in sorted(wanted)),
        left_out=tuple(sorted(set(present) - wanted)),
        built=built,
        in_place=tuple(sorted(in_place)),
        sizes={
            name: _size(present[name], wheel)
            for name, wheel in sorted(wheels.items())
            if wheel is not None and name in wanted
        },
    )


def _size(package: LockedPackage, wheel: LockedFile) -> int | None:
    """A wheel that lies on this disk is not fetched, and the lock does not tell its size."""
    return 0 if package.source.is_local and wheel.size is None else wheel.size


def _is_in_place(package: LockedPackage) -> bool:
    source = package.source
    folder = source.kind in (SourceKind.DIRECTORY, SourceKind.EDITABLE)
    return folder and source.value.startswith(("/", "file:"))


def _reached(start: Collection[str], environment: Environment) -> set[str]:
    edges = environment.edges
    found = set(start)
    open_ends = list(start)
    while open_ends:
        for child in edges.get(open_ends.pop(), ()):
            if child not in found:
                found.add(child)
                open_ends.append(child)
    return found
