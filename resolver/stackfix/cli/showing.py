"""Printing what is known of a package or a release, for `explain` and `knowledge show` alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from stackfix.cli.known import find_release, unknown_package

if TYPE_CHECKING:
    from stackfix.model.target import Target
    from stackfix_knowledge.graph import Graph

__all__ = ["show_package_or_release"]


def show_package_or_release(
    name: str,
    version: str | None,
    graph: Graph,
    output_format: str,
    *,
    targets: Sequence[Target] = (),
    platform: str = "linux_x86_64",
) -> None:
    """Print the release, or without a version the package; ClickException where it is unknown."""
    if version is None:
        _package(name, graph, output_format)
    else:
        _release(name, version, graph, output_format, targets, platform)


def _package(name: str, graph: Graph, output_format: str) -> None:
    from stackfix.report.package import package_document

    document = package_document(name, graph)
    if not document["releases"]:
        raise click.ClickException(unknown_package(name, graph))
    if output_format == "json":
        _dump(document)
    else:
        from stackfix.report.console import output_console
        from stackfix.report.package_text import show_package

        show_package(output_console(), document)


def _release(
    name: str,
    version: str,
    graph: Graph,
    output_format: str,
    targets: Sequence[Target],
    platform: str,
) -> None:
    from stackfix.report.release import release_document

    release = find_release(name, version, graph)
    document = release_document(release, graph, targets=targets, platform=platform)
    if output_format == "json":
        _dump(document)
    else:
        from stackfix.report.console import output_console
        from stackfix.report.release_text import show_release

        show_release(output_console(), document)


def _dump(document: dict[str, object]) -> None:
    from stackfix.report.json import dump

    click.echo(dump(document), nl=False)
