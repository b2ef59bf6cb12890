"""Which Pythons and machines a lock is judged for: every fork that Linux can install."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix_lockfiles.lock import Dependency, Lock, LockedPackage
from stackfix_lockfiles.markers import Truths
from stackfix_lockfiles.platforms import Platform

__all__ = [
    "comes_alive",
    "left_over",
    "lowest_python",
    "other_machine",
    "project_python",
    "pythons",
]

MINORS = tuple(f"3.{minor}" for minor in range(8, 20))
_MACHINES = {"linux_x86_64": "linux_aarch64", "linux_aarch64": "linux_x86_64"}


def lowest_python(requires_python: str) -> str:
    """The lowest Python that a specifier admits ("3.11"); "3.8" when it says nothing."""
    specifier = SpecifierSet(requires_python)
    bounds = [c.version for c in specifier if c.operator in {">=", "==", "~="}]
    exact = [bound for bound in bounds if re.fullmatch(r"\d+(\.\d+)*", bound)]
    for text in sorted({*MINORS, *exact}, key=Version):
        if specifier.contains(text):
            return text
    return MINORS[0]


def project_python(requires_python: str, chosen: str | None) -> str:
    """The project's own choice (`.python-version`) where the lock admits it, else the lowest."""
    wanted = re.search(r"\d+\.\d+(\.\d+)?", chosen or "")
    if wanted and SpecifierSet(requires_python).contains(wanted.group()):
        return wanted.group()
    return lowest_python(requires_python)


def pythons(lock: Lock, own: str, is_stack: Callable[[str], bool]) -> tuple[str, ...]:
    """`own`, and one Python of every other fork of the lock in which GPU packages may differ."""
    comparisons = sorted(
        {
            token
            for text in _markers(lock, is_stack)
            for token in lock.marker(text).tokens
            if "python" in token
        }
    )
    if not comparisons:
        return (own,)
    found = {_truths(own if own.count(".") > 1 else f"{own}.99", comparisons): own}
    admitted = SpecifierSet(lock.requires_python)
    for minor in MINORS:
        if admitted.contains(f"{minor}.99"):
            found.setdefault(_truths(f"{minor}.99", comparisons), minor)
    return tuple(found.values())


def other_machine(platform: str) -> str | None:
    """The other Linux; None for what is no Linux."""
    return _MACHINES.get(platform)


def left_over(
    lock: Lock, reached: Container[int], is_stack: Callable[[str], bool]
) -> tuple[LockedPackage, ...]:
    """GPU packages, and what they depend on, that the environments so far do not install.

    `reached` holds the identities of the packages that they do install.
    """
    near = {
        edge.name
        for package in lock.packages
        if is_stack(package.name)
        for edge in package.dependencies
    }
    return tuple(
        package
        for package in lock.packages
        if id(package) not in reached
        and (is_stack(package.name) or (package.resolution_markers and package.name in near))
    )


def comes_alive(lock: Lock, packages: Iterable[LockedPackage], platform: str, python: str) -> bool:
    """Whether one of the packages may be installed there, as far as its forks tell."""
    full = python if python.count(".") > 1 else f"{python}.99"
    truths = Truths(Platform.parse(platform).markers(full))
    return any(
        not package.resolution_markers
        or any(lock.marker(text).holds(truths) for text in package.resolution_markers)
        for package in packages
    )


def _markers(lock: Lock, is_stack: Callable[[str], bool]) -> Iterator[str]:
    """Markers of the lock's forks, and of every edge that leads to a GPU package."""
    yield from lock.resolution_markers
    for package in lock.packages:
        if is_stack(package.name):
            yield from package.resolution_markers
        for edges in (
            package.dependencies,
            *package.optional_dependencies.values(),
            *package.dev_dependencies.values(),
        ):
            yield from _of_edges(edges, is_stack)


def _of_edges(edges: Iterable[Dependency], is_stack: Callable[[str], bool]) -> Iterator[str]:
    for edge in edges:
        if edge.marker is not None and is_stack(edge.name):
            yield edge.marker


def _truths(python: str, comparisons: Iterable[str]) -> tuple[bool, ...]:
    environment = Truths(
        {
            "python_version": ".".join(python.split(".")[:2]),
            "python_full_version": python,
            "implementation_version": python,
            "platform_python_implementation": "CPython",
        }
    )
    return tuple(environment[comparison] for comparison in comparisons)
