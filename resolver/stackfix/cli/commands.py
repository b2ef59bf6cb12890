"""The table of commands. A command's module is imported only when the command runs."""

from __future__ import annotations

from importlib import import_module

import click

__all__ = ["COMMANDS", "stackfix"]

COMMANDS = {
    "plan": ("stackfix.cli.plan", "Find the cheapest joint move of pins that supports the cards."),
    "apply": ("stackfix.cli.apply", "Write a plan to pyproject.toml and uv.lock, or take it back."),
    "host": ("stackfix.cli.host", "Show what this machine is: cards, driver, surroundings."),
    "inspect": ("stackfix.cli.inspect", "Show which GPU code wheels and environments carry."),
    "explain": ("stackfix.cli.explain", "Explain a rule, or all that is known about a release."),
}
"""Name -> module with a click command called `command`, and the line that `--help` shows."""


class _Lazy(click.Group):
    """A group that knows its commands' names and summaries without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


def _show_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from stackfix.cli.version import version

        click.echo(f"stackfix {version()}")
        ctx.exit()


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
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
