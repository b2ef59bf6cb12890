"""`stackfix host`."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from stackfix.cli.failures import FINDINGS
from stackfix.cli.options import ANY_NUMBER, format_option
from stackfix.cli.parser import Parser, file_path

if TYPE_CHECKING:
    from stackfix.host.host import Host

__all__ = ["configure", "run"]


def configure(parser: Parser) -> None:
    """Add the options of the command."""
    parser.add_argument("files", **ANY_NUMBER, type=file_path, metavar="[FILE]...")
    format_option(parser)


def run(arguments: Namespace) -> int:
    """Show what this machine is: cards, driver, surroundings.

    With `--format json` the output plans for this machine elsewhere: `stackfix plan --host FILE`.
    A machine without a card is no error. What is wrong with it (a fabric that is not set up, memory
    errors, Xids in the kernel log) is said with what to do. One FILE shows the machine that it was
    written on; several are compared, and what differs is named.

    Exit code: 0; 1 where compared hosts differ in cards, driver, platform or fabric; 2 bad input.
    """
    from stackfix.host.document import read_host

    files, output_format = arguments.files, arguments.output_format
    if len(files) > 1:
        return _compare([(str(path), read_host(path)) for path in files], output_format)
    if files:
        _show(read_host(files[0]), output_format)
    else:
        from stackfix.cli.asking import machine
        from stackfix_knowledge.graph import Graph

        _show(machine(Graph.load()), output_format)
    return 0


def _show(host: Host, output_format: str) -> None:
    from stackfix.cli.printing import print_result
    from stackfix.host.document import host_document
    from stackfix.report.host import host_text

    print_result(output_format, lambda: host_document(host), lambda: host_text(host))


def _compare(hosts: list[tuple[str, Host]], output_format: str) -> int:
    from stackfix.cli.printing import print_result
    from stackfix.host.compare import compare
    from stackfix.report.host import comparison_document, comparison_text

    comparison = compare(hosts)
    print_result(
        output_format,
        lambda: comparison_document(comparison),
        lambda: comparison_text(comparison),
    )
    return 0 if comparison.same else FINDINGS
