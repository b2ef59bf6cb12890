"""`stackfix host`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from stackfix.cli.failures import FINDINGS
from stackfix.cli.options import format_option

if TYPE_CHECKING:
    from stackfix.host.host import Host

__all__ = ["command"]


@click.command("host")
@click.argument(
    "files", nargs=-1, type=click.Path(path_type=Path, dir_okay=False), metavar="[FILE]..."
)
@format_option
def command(files: tuple[Path, ...], output_format: str) -> int:
    """Show what this machine is: cards, driver, surroundings.

    With `--format json` the output plans for this machine elsewhere: `stackfix plan --host FILE`.
    A machine without a card is no error. What is wrong with it (a fabric that is not set up, memory
    errors, Xids in the kernel log) is said with what to do. One FILE shows the machine that it was
    written on; several are compared, and what differs is named.

    Exit code: 0; 1 where compared hosts differ in cards, driver, platform or fabric; 2 bad input.
    """
    from stackfix.host.document import read_host

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
    if output_format == "json":
        from stackfix.documents.document import dump
        from stackfix.host.document import host_document

        click.echo(dump(host_document(host)), nl=False)
    else:
        from stackfix.report.console import output_console
        from stackfix.report.host_text import show_host

        show_host(output_console(), host)


def _compare(hosts: list[tuple[str, Host]], output_format: str) -> int:
    from stackfix.host.compare import compare

    comparison = compare(hosts)
    if output_format == "json":
        from stackfix.report.hosts import hosts_document
        from stackfix.report.json import dump

        click.echo(dump(hosts_document(comparison)), nl=False)
    else:
        from stackfix.report.console import output_console
        from stackfix.report.hosts import show_hosts

        show_hosts(output_console(), comparison)
    return 0 if comparison.same else FINDINGS
