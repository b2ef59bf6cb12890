"""Which Pythons and machines a lock is judged for: every fork that Linux can install."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from packaging.specifiers import SpecifierSet

from stackfix.plan.sites import MINORS, lowest_python
from stackfix_lockfiles.lock import Dependency, Lock
from stackfix_lockfiles.markers import Environment

__all__ = ["other_machine", "project_python", "pythons"]

_MACHINES = {"linux_x86_64": "linux_aarch64", "linux_aarch64": "linux_x86_64"}


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


def other_machine(lock: Lock, platform: str, is_stack: Callable[[str], bool]) -> str | None:
    """The other Linux, where the lock tells machines apart for GPU packages; None if it does not.

    A machine that the lock is not made for does not count.
    """
    other = _MACHINES.get(platform)
    if other is None or not any("platform_machine" in text for text in _markers(lock, is_stack)):
        return None
    return other


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
    environment = Environment(
        {
            "python_version": ".".join(python.split(".")[:2]),
            "python_full_version": python,
            "implementation_version": python,
            "platform_python_implementation": "CPython",
        }
    )
    return tuple(environment[comparison] for comparison in comparisons)
