"""Packages and releases as people name them, and all that is known of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.cli.failures import UsageError
from stackfix.cli.parser import Parser

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stackfix.model.target import Target
    from stackfix_knowledge.graph import Graph

__all__ = ["graph_at", "package_name", "print_known", "project_option"]


def project_option(parser: Parser) -> None:
    """`--project`: whose own facts count too."""
    parser.add_argument(
        "--project", type=Path, metavar="PATH", help="Also use the facts that this project adds."
    )


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
        raise UsageError(f"expected {expected}, not {text!r}") from None


def print_known(
    name: str,
    version: str | None,
    graph: Graph,
    output_format: str,
    *,
    targets: Sequence[Target] = (),
    platform: str = "linux_x86_64",
) -> None:
    """Print all that is known of a release, or without a version of a package.

    Raises NotKnown where that is nothing.
    """
    from stackfix.cli.printing import print_result
    from stackfix_knowledge.lookup import find_release, find_releases

    if version is None:
        from stackfix.report.package import package_document, package_text

        find_releases(graph, name)
        package = package_document(name, graph)
        print_result(output_format, lambda: package, lambda: package_text(package))
    else:
        from stackfix.report.release import release_document, release_text

        found = find_release(graph, name, version)
        release = release_document(found, graph, targets=targets, platform=platform)
        print_result(output_format, lambda: release, lambda: release_text(release))
