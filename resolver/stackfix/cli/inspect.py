"""`stackfix inspect`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.cli.failures import BAD_INPUT, FINDINGS
from stackfix.cli.options import card_options, format_option
from stackfix.cli.parser import Parser

if TYPE_CHECKING:
    from stackfix_index.errors import Unreadable
    from stackfix_knowledge.inspect.package import Inspected
from stackfix.wording import one_line

__all__ = ["configure", "run"]


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH…")
    card_options(parser)
    format_option(parser)


def run(arguments: Namespace) -> int:
    """Show which GPU code binaries carry, and on which cards it runs.

    PATH is a wheel, an environment or any other folder, or one shared library. Files are read
    and never run. With --target or --host, also says whether each package suits those cards.

    Exit code: 0 fine, 1 something does not run on a target, 2 a PATH that cannot be read.
    """
    from stackfix.audit.binaries import judge_inspected
    from stackfix.cli.printing import print_note, print_result
    from stackfix.report.inspection import inspection_document, inspection_text
    from stackfix.report.text import progress
    from stackfix.rules.judge import errors
    from stackfix.targets.select import select_targets
    from stackfix_knowledge.graph import Graph

    paths, output_format = arguments.paths, arguments.output_format
    graph = Graph.load()
    cards = select_targets(named=arguments.targets, hosts=arguments.hosts, gpus=graph.gpus).targets
    with progress(quiet=output_format == "json") as tell:
        tell("reading libraries")
        packages, faults, unusable = _inspect(paths)
    findings = judge_inspected(packages, cards, graph)
    if output_format == "json" or packages or len(unusable) < len(paths):
        print_result(
            output_format,
            lambda: inspection_document(packages, [*faults, *unusable], cards, findings, graph),
            lambda: inspection_text(packages, cards, findings),
        )
    for fault in (*faults, *unusable):
        print_note(one_line(str(fault)))
    if unusable:
        return BAD_INPUT
    return FINDINGS if errors(findings) else 0


def _inspect(
    paths: Sequence[Path],
) -> tuple[list[Inspected], list[Unreadable], list[Unreadable]]:
    """What was found, what could not be read below the paths, and which paths could not."""
    import os

    from stackfix_index.errors import Unreadable
    from stackfix_knowledge.inspect.inspection import inspect_path

    packages: list[Inspected] = []
    faults: list[Unreadable] = []
    unusable: list[Unreadable] = []
    for path in dict.fromkeys(paths):
        try:
            found = inspect_path(path, processes=min(os.cpu_count() or 1, 4))
        except Unreadable as fault:
            unusable.append(fault)
            continue
        packages += found.packages
        faults += found.faults
    return packages, faults, unusable
