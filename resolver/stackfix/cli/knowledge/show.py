"""`stackfix knowledge show`."""

from __future__ import annotations

from argparse import Namespace

from stackfix.cli.known import graph_at, package_name, print_known, project_option
from stackfix.cli.options import card_options, format_option, platform_option
from stackfix.cli.parser import Parser

__all__ = ["configure", "run"]


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("subject", metavar="PKG[==VERSION]")
    card_options(parser)
    platform_option(parser)
    project_option(parser)
    format_option(parser)


def run(arguments: Namespace) -> int:
    """Show all that is known about a package or one of its releases, with the evidence.

    With --target or --host, also says what those cards can do with a release.
    """
    from stackfix.targets.select import select_targets

    text, separator, version = arguments.subject.partition("==")
    name = package_name(text, "a package or a release like torch==2.7.1")
    graph = graph_at(arguments.project)
    print_known(
        name,
        version.strip() if separator else None,
        graph,
        arguments.output_format,
        targets=select_targets(
            named=arguments.targets, hosts=arguments.hosts, gpus=graph.gpus
        ).targets,
        platform=arguments.platform,
    )
    return 0
