"""What `uv sync` would install from a lock for one platform, one Python, some extras and groups.

The walk follows uv's: from the roots over the edges whose markers hold. Where extras or groups
conflict, the lock's markers ask which of them are on (`extra == 'extra-6-openpi-cu128'`); since
an edge deep in the graph may turn one on, a first walk collects them and a second one decides.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from packaging.specifiers import SpecifierSet

from stackfix_index.names import normalized
from stackfix_lockfiles import markers
from stackfix_lockfiles._walk import ConflictError, Link, Walk
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.packages import LockedPackage, SourceKind
from stackfix_lockfiles.platforms import Platform, python_minor

__all__ = [
    "ConflictError",
    "Environment",
    "Link",
    "UnsupportedPlatformError",
    "environment",
    "full_python_version",
]


class UnsupportedPlatformError(InputError):
    """The lock was made for other platforms only (`tool.uv.environments`); uv refuses it too."""

    def __init__(self, lock: Lock, platform: Platform) -> None:
        listed = "; ".join(lock.supported_markers)
        expected = f"expected a platform that the lock is made for ({listed}), found {platform}"
        super().__init__(lock.name, expected, place="supported-markers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The packages of one environment and why each is in it."""

    platform: Platform
    python: str
    """The full version the markers were evaluated for."""
    extras_on: Mapping[str, frozenset[str]]
    """Per package, the extras that are turned on."""
    groups: frozenset[str]
    """The dependency groups that are in."""
    roots: tuple[str, ...]
    packages: Mapping[str, LockedPackage]
    """By name, the workspace's own included. `installed` leaves out what is only virtual."""
    links: tuple[Link, ...]
    """Every edge followed, in walking order."""
    open_ended: bool = False
    """Whether an installer may add what these packages need: a list of requirements, no lock."""
    surplus: tuple[LockedPackage, ...] = ()
    """Further versions of a name already in `packages`: a lock that installs two of one thing."""
    _parents: Mapping[str, str | None] = field(repr=False)

    @property
    def installed(self) -> Mapping[str, LockedPackage]:
        """What is put into the environment: `packages` without virtual ones."""
        return {
            name: package
            for name, package in self.packages.items()
            if package.source.kind is not SourceKind.VIRTUAL
        }

    @property
    def edges(self) -> Mapping[str, tuple[str, ...]]:
        """The packages each package depends on here."""
        edges: dict[str, list[str]] = {name: [] for name in self.packages}
        for link in self.links:
            if link.parent is not None and link.child not in edges[link.parent]:
                edges[link.parent].append(link.child)
        return {name: tuple(children) for name, children in edges.items()}

    def chain(self, name: str) -> tuple[str, ...]:
        """Return a shortest path of names from a root to `name`, both included; KeyError if absent.

        `("openpi", "lerobot", "torchcodec")`.
        """
        chain = [name]
        parent = self._parents[name]
        while parent is not None:
            chain.append(parent)
            parent = self._parents[parent]
        return tuple(reversed(chain))


def environment(
    lock: Lock,
    *,
    platform: Platform,
    python: str,
    extras: Collection[str] = (),
    groups: Collection[str] | None = None,
    default_groups: Collection[str] | str = ("dev",),
    all_extras: bool = False,
    all_groups: bool = False,
    all_packages: bool = False,
    production: bool = True,
) -> Environment:
    """Return what `uv sync` would install.

    Args:
        lock: read by `Lock.read`.
        platform: see `Platform.parse`.
        python: a full version, or `3.12`, which stands for the newest 3.12 the lock admits.
        extras: extras of the roots (`--extra`).
        groups: exactly these dependency groups; None for the default ones.
        default_groups: the project's (`Project.default_groups`); `all` for every group.
        all_extras: every extra of the roots.
        all_groups: every group of the roots.
        all_packages: start from every member instead of the root project alone. In a workspace
            without a root project that is always so.
        production: False for the groups alone (`--only-group`).

    Raises:
        ConflictError: the choice is declared as conflicting.
        UnsupportedPlatformError: the lock's `supported-markers` leave the platform out.
        InputError: an extra or group does not exist, or the lock does not admit that Python.
    """
    full = full_python_version(lock, python)
    truths = markers.Truths(platform.markers(full))
    supported = lock.supported_markers
    if supported and not any(lock.marker(text).holds(truths) for text in supported):
        raise UnsupportedPlatformError(lock, platform)
    walk = Walk(lock, truths, _roots(lock, all_packages), production)
    walk.choose_extras({normalized(extra) for extra in extras}, all_extras)
    walk.choose_groups(groups, default_groups, all_groups)
    walk.run()
    return Environment(
        platform=platform,
        python=full,
        extras_on={name: frozenset(found) for name, found in walk.extras_on.items()},
        groups=frozenset(walk.groups),
        roots=tuple(root.name for root in walk.roots),
        packages=walk.packages,
        links=tuple(walk.links),
        surplus=tuple(walk.surplus),
        _parents=walk.parents,
    )


def full_python_version(lock: Lock, python: str) -> str:
    """Return the full version that `python` stands for under the lock's `requires-python`.

    `3.12` becomes the newest patch release the lock admits, written `3.12.99` where nothing limits
    it: installers take the newest interpreter, and markers such as `< '3.11.3'` speak of old ones.

    Raises:
        InputError: it is no version, or the lock does not admit it.
    """
    admitted = SpecifierSet(lock.requires_python)
    try:
        major, minor = python_minor(python)
        given = python.count(".") >= 2
        candidates = [python] if given else [f"{major}.{minor}.{patch}" for patch in _PATCHES]
        found = next((full for full in candidates if admitted.contains(full, True)), None)
    except ValueError as error:
        raise InputError(lock.name, str(error)) from None
    if found is None:
        expected = f"expected a Python that {lock.requires_python} admits, {python} was asked for"
        raise InputError(lock.name, expected, place="requires-python")
    return found


_PATCHES = range(99, -1, -1)


def _roots(lock: Lock, all_packages: bool) -> tuple[LockedPackage, ...]:
    root = lock.root
    return lock.members if root is None or all_packages else (root,)
