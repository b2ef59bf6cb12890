"""Groups of commands whose modules are imported only when a command runs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

__all__ = ["Lazy"]


class Lazy(click.Group):
    """A group that knows its commands' names and summaries without importing them."""

    def __init__(self, *arguments: Any, table: Mapping[str, tuple[str, str]], **more: Any) -> None:
        """`table`: name -> module with a click command called `command`, and its summary."""
        super().__init__(*arguments, **more)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._table:
            return None
        command = import_module(self._table[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self._table.items()])
