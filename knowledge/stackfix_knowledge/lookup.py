"""Packages and releases that somebody asks for: found in the graph, or what is known instead."""

from __future__ import annotations

from packaging.version import InvalidVersion, Version

from stackfix_knowledge.errors import KnowledgeError
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.wheels.release import Release

__all__ = ["NotKnown", "find_release", "find_releases"]


class NotKnown(KnowledgeError):
    """Nothing is known of what was asked for; the text is one line that says what is."""


def find_release(graph: Graph, name: str, version: str) -> Release:
    """One release of a package, whose name is normalised. Raises NotKnown."""
    try:
        release = graph.release(name, Version(version))
    except InvalidVersion:
        raise NotKnown(f'expected a version like "2.7.1", not {version!r}') from None
    if release is None:
        known = [one.version for one in find_releases(graph, name)]
        span = f"{len(known)} releases from {known[0]} to {known[-1]}"
        raise NotKnown(f"{name} {version} is not known; {span} are")
    return release


def find_releases(graph: Graph, name: str) -> tuple[Release, ...]:
    """All known releases of a package, at least one. Raises NotKnown, with near names."""
    releases = graph.releases(name)
    if not releases:
        raise NotKnown(_unknown(graph, name))
    return releases


def _unknown(graph: Graph, name: str) -> str:
    import difflib

    if graph.packages.is_stack(name):
        return f"{name} is a package of the GPU stack, but no release of it is known yet"
    near = difflib.get_close_matches(name, [package.name for package in graph.packages], n=3)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"nothing is known about {name}: it is no package of the GPU stack{hint}"
