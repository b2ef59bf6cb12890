"""The table of commands. A command's module is imported only when the command runs."""

from __future__ import annotations

import click

from stackfix.cli.lazy import Lazy

__all__ = ["COMMANDS", "stackfix"]

COMMANDS = {
    "plan": ("stackfix.cli.plan", "Find the cheapest joint move of pins that supports the cards."),
    "apply": ("stackfix.cli.apply", "Write a plan to pyproject.toml and uv.lock, or take it back."),
    "check": ("stackfix.cli.check", "Check that locks support their cards: the gate for CI."),
    "validate": ("stackfix.cli.validate", "Prove the pins: install them and run kernels."),
    "host": ("stackfix.cli.host", "Show what this machine is: cards, driver, surroundings."),
    "env": ("stackfix.cli.env", "Print the environment to set before the first step."),
    "inspect": ("stackfix.cli.inspect", "Show which GPU code wheels and environments carry."),
    "knowledge": ("stackfix.cli.knowledge", "Show, measure and check the facts themselves."),
    "diagnose": ("stackfix.cli.diagnose", "Name the fault that started a crash, from its logs."),
    "explain": ("stackfix.cli.explain", "Explain a rule, or all that is known about a release."),
}
"""Name -> module with a click command called `command`, and the line that `--help` shows."""


def _show_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from stackfix.cli.version import version

        click.echo(f"stackfix {version()}")
        ctx.exit()


@click.group(cls=Lazy, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def stackfix() -> None:
    """Move a project's GPU stack together until it supports the card in the machine."""
