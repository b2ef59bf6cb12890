"""`stackfix host`."""

from __future__ import annotations

import click

from stackfix.cli.options import format_option

__all__ = ["command"]


@click.command("host")
@format_option
def command(output_format: str) -> int:
    """Show what this machine is: cards, driver, surroundings.

    With `--format json` the output plans for this machine elsewhere: `stackfix plan --host FILE`.
    A machine without a card is no error.
    """
    from stackfix.cli.asking import machine
    from stackfix_knowledge.graph import Graph

    host = machine(Graph.load())
    if output_format == "json":
        from stackfix.host.document import to_document
        from stackfix.report.json import dump

        click.echo(dump(to_document(host)), nl=False)
    else:
        from stackfix.report.console import output_console
        from stackfix.report.host_text import show_host

        show_host(output_console(), host)
    return 0
