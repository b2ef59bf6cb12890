"""`stackfix knowledge show`."""

from __future__ import annotations

from pathlib import Path

import click

from stackfix.cli.known import graph_at, package_name, print_known, project_option
from stackfix.cli.options import card_options, format_option, platform_option

__all__ = ["command"]


@click.command("show")
@click.argument("subject", metavar="PKG[==VERSION]")
@card_options
@platform_option
@project_option
@format_option
def command(
    subject: str,
    targets: tuple[str, ...],
    hosts: tuple[Path, ...],
    platform: str,
    project: Path | None,
    output_format: str,
) -> int:
    """Show all that is known about a package or one of its releases, with the evidence.

    With --target or --host, also says what those cards can do with a release.
    """
    from stackfix.targets.select import select_targets

    text, separator, version = subject.partition("==")
    name = package_name(text, "a package or a release like torch==2.7.1")
    graph = graph_at(project)
    print_known(
        name,
        version.strip() if separator else None,
        graph,
        output_format,
        targets=select_targets(named=targets, hosts=hosts, gpus=graph.gpus).targets,
        platform=platform,
    )
    return 0
