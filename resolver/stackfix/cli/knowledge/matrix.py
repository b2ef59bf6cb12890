"""`stackfix knowledge matrix`."""

from __future__ import annotations

from pathlib import Path

import click

from stackfix.cli.known import graph_at, package_name, project_option
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
    from stackfix.cli.printing import print_result
    from stackfix.report.matrix import matrix_document, matrix_text
    from stackfix.report.verdicts import GENERATIONS
    from stackfix.targets.select import select_targets
    from stackfix_knowledge.lookup import find_releases

    name = package_name(package, "the name of a package, such as torch")
    graph = graph_at(project)
    find_releases(graph, name)
    chosen = select_targets(named=targets, hosts=hosts, gpus=graph.gpus).targets
    cards = dict.fromkeys(target.capability for target in chosen)
    document = matrix_document(
        name, graph, tuple(cards) or GENERATIONS, platform=platform, builds=builds
    )
    print_result(output_format, lambda: document, lambda: matrix_text(document))
    return 0
