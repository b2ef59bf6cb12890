"""Cards that a command may be told about, where it also works without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from stackfix.model.target import Target
    from stackfix_knowledge.graph import Graph

__all__ = ["cards_of", "platform_option"]

_PLATFORMS = ("linux_x86_64", "linux_aarch64", "win_amd64")


def cards_of(targets: Sequence[str], hosts: Sequence[Path], graph: Graph) -> tuple[Target, ...]:
    """The targets that `card_options` name; none where nothing was named."""
    if not targets and not hosts:
        return ()
    from stackfix.cli.asking import machine
    from stackfix.targets.select import select_targets

    return select_targets(
        named=targets,
        hosts=hosts,
        settings={},
        project_file=Path("pyproject.toml"),
        gpus=graph.gpus,
        machine=lambda: machine(graph),
    ).targets


def platform_option(command: Callable[..., int]) -> Callable[..., int]:
    """`--platform`: whose wheels are meant."""
    return click.option(
        "--platform",
        type=click.Choice(_PLATFORMS),
        default=_PLATFORMS[0],
        show_default=True,
        help="Whose wheels to look at.",
    )(command)
