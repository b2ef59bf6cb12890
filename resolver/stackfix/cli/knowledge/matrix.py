"""`stackfix knowledge matrix`."""

from __future__ import annotations

from argparse import Namespace

from stackfix.cli.known import graph_at, package_name, project_option
from stackfix.cli.options import card_options, format_option, platform_option
from stackfix.cli.parser import Parser

__all__ = ["configure", "run"]


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("package", metavar="PKG")
    card_options(parser)
    platform_option(parser)
    parser.add_argument(
        "--builds", action="store_true", help="Also the builds of PyTorch's own indexes."
    )
    project_option(parser)
    format_option(parser)


def run(arguments: Namespace) -> int:
    """Show a package's releases by the cards they suit, as the graph knows them.

    Without --target or --host, one card of each generation.
    """
    from stackfix.cli.printing import print_result
    from stackfix.report.matrix import matrix_document, matrix_text
    from stackfix.report.verdicts import GENERATIONS
    from stackfix.targets.select import select_targets
    from stackfix_knowledge.lookup import find_releases

    name = package_name(arguments.package, "the name of a package, such as torch")
    graph = graph_at(arguments.project)
    find_releases(graph, name)
    chosen = select_targets(named=arguments.targets, hosts=arguments.hosts, gpus=graph.gpus).targets
    cards = dict.fromkeys(target.capability for target in chosen)
    document = matrix_document(
        name,
        graph,
        tuple(cards) or GENERATIONS,
        platform=arguments.platform,
        builds=arguments.builds,
    )
    print_result(arguments.output_format, lambda: document, lambda: matrix_text(document))
    return 0
