"""Packages and releases as people name them, found in the graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.wheels.release import Release

__all__ = ["find_release", "graph_at", "package_name", "project_option", "unknown_package"]


def project_option(command: Callable[..., int]) -> Callable[..., int]:
    """`--project`: whose own facts count too."""
    return click.option(
        "--project",
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="Also use the facts that this project adds.",
    )(command)


def graph_at(project: Path | None) -> Graph:
    """The graph, with the facts of a project where one was named."""
    from stackfix.cli.asking import find_project, graph_of

    return graph_of(find_project(project) if project else None)


def package_name(text: str, expected: str) -> str:
    """A package's normalised name; UsageError with what was `expected` for anything else."""
    from packaging.utils import InvalidName, canonicalize_name

    try:
        return str(canonicalize_name(text.strip(), validate=True))
    except InvalidName:
        raise click.UsageError(f"expected {expected}, not {text!r}") from None


def find_release(name: str, version: str, graph: Graph) -> Release:
    """The release; ClickException with what is known instead."""
    from packaging.version import InvalidVersion, Version

    try:
        release = graph.release(name, Version(version))
    except InvalidVersion:
        raise click.ClickException(f'expected a version like "2.7.1", not {version!r}') from None
    if release is None:
        known = [one.version for one in graph.releases(name)]
        if not known:
            raise click.ClickException(unknown_package(name, graph))
        span = f"{len(known)} releases from {known[0]} to {known[-1]}"
        raise click.ClickException(f"{name} {version} is not known; {span} are")
    return release


def unknown_package(name: str, graph: Graph) -> str:
    """One line for a package without a known release."""
    import difflib

    if graph.packages.is_stack(name):
        return f"{name} is a package of the GPU stack, but no release of it is known yet"
    near = difflib.get_close_matches(name, [package.name for package in graph.packages], n=3)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"nothing is known about {name}: it is no package of the GPU stack{hint}"
