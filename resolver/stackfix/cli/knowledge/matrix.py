"""`stackfix knowledge matrix`."""

from __future__ import annotations

from pathlib import Path

import click

from stackfix.cli.known import graph_at, package_name, project_option, unknown_package
from stackfix.cli.options import card_options, format_option, platform_option

__all__ = ["command"]


@click.command("matrix")
@click.argument("package", metavar="PKG")
@card_options
@platform_option
@click.option("--builds", is_flag=True, help="Also the builds of PyTorch's own indexes.")
@project_option
@format_option
def command(
    package: str,
    targets: tuple[str, ...],
    hosts: tuple[Path, ...],
    platform: str,
    builds: bool,
    project: Path | None,
    output_format: str,
) -> int:
    """Show a package's releases by the cards they suit, as the graph knows them.

    Without --target or --host, one card of each generation.
    """
    from stackfix.report.columns import COLUMNS
    from stackfix.report.matrix import matrix_document
    from stackfix.targets.select import select_targets

    name = package_name(package, "the name of a package, such as torch")
    graph = graph_at(project)
    if not graph.releases(name):
        raise click.ClickException(unknown_package(name, graph))
    chosen = select_targets(named=targets, hosts=hosts, gpus=graph.gpus).targets
    cards = dict.fromkeys(target.capability for target in chosen)
    document = matrix_document(
        name, graph, tuple(cards) or COLUMNS, platform=platform, builds=builds
    )
    if output_format == "json":
        from stackfix.report.json import dump

        click.echo(dump(document), nl=False)
    else:
        from stackfix.report.console import output_console
        from stackfix.report.matrix_text import show_matrix

        show_matrix(output_console(), document)
    return 0
