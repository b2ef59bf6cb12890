"""How a command line is read: argparse, with our order, our errors and our page of help."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from stackfix.cli.failures import UsageError

__all__ = ["Parser", "file_path", "folder_path", "nearest", "one_of"]

_WIDEST = 80
"""Longer lines are no longer read at a glance."""


class Parser(argparse.ArgumentParser):
    """The options and arguments of one command.

    Errors are raised as UsageError and options are never abbreviated. Options and arguments may
    stand in any order, `--` ends the options, and the value of an option may begin with a dash.
    """

    def __init__(
        self,
        prog: str,
        description: str | None,
        *,
        commands: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        """`prog`: the command as it is typed; `description`: the paragraphs above its options.

        `commands`: those below it; name -> module and summary.
        """
        super().__init__(
            prog,
            description=description,
            formatter_class=partial(_Page, width=_WIDEST - 2),
            add_help=False,
            allow_abbrev=False,
            exit_on_error=False,
        )
        self.commands = commands or {}
        self._optionals.title = "Options"
        self.add_argument("-h", "--help", action="help", help="Show this message and exit.")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """What was chosen; what can be repeated is a tuple.

        `given` tells the options that were on the command line, by their long names.
        """
        options, rest = self._sorted(arguments)
        given = tuple(option.partition("=")[0] for option in options)
        if not rest and "--help" not in given:
            for positional in self._get_positional_actions():
                if positional.required:
                    self.error(f"Missing argument '{positional.metavar}'")
        try:
            chosen, extra = self.parse_known_args([*options, *(["--", *rest] if rest else [])])
        except argparse.ArgumentError as error:
            self.error(f"Invalid value for '{error.argument_name}': {error.message}")
        if extra := [argument for argument in extra if argument != "--"]:
            several = "s" if len(extra) > 1 else ""
            self.error(f"Got unexpected extra argument{several} ({' '.join(extra)})")
        for name, value in vars(chosen).items():
            if isinstance(value, list):
                setattr(chosen, name, tuple(value))
        chosen.given = given
        return chosen

    def _sorted(self, arguments: Sequence[str]) -> tuple[list[str], list[str]]:
        """The options, each one word with its value, and the other arguments.

        argparse itself wants arguments in one piece, and takes a value with a dash for an option.
        """
        options: list[str] = []
        rest: list[str] = []
        waiting = iter(arguments)
        for argument in waiting:
            if argument == "--":
                rest += waiting
            elif argument == "-" or not argument.startswith("-"):
                rest.append(argument)
            else:
                options.append(self._option(argument, waiting))
        return options, rest

    def _option(self, argument: str, following: Iterator[str]) -> str:
        """An option by its long name, with its value, which may be the following word."""
        if argument.startswith("--"):
            name, equals, text = argument.partition("=")
            value = text if equals else None
        else:
            name, value = argument[:2], argument[2:] or None
        action = self._option_string_actions.get(name)
        if action is None:
            self.error(f"No such option '{name}'{nearest(name, self._option_string_actions)}")
        long = action.option_strings[-1]
        if action.nargs == 0:
            if value is not None:
                self.error(f"Option '{name}' does not take a value")
            return long
        if value is None:
            value = next(following, None)
        if value in (None, "--"):
            self.error(f"Option '{name}' requires an argument")
        return f"{long}={value}"

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the command line as UsageError."""
        fault = UsageError(message)
        fault.command = self.prog
        raise fault

    def format_help(self) -> str:
        """The page that `--help` shows."""
        import shutil

        columns = min(shutil.get_terminal_size().columns, _WIDEST)
        page = _Page(self.prog, width=max(columns - 2, 50))
        rest = [str(positional.metavar) for positional in self._get_positional_actions()]
        if self.commands:
            rest = ["COMMAND [ARGS]..."]
        page.add_usage(" ".join([self.prog, "[OPTIONS]", *rest]), (), (), prefix="Usage: ")
        page.add_text(self.description)
        for group in self._action_groups:
            if group is not self._positionals:
                page.start_section(group.title)
                page.add_arguments(group._group_actions)
                page.end_section()
        page.start_section("Commands")
        for name, (_, summary) in self.commands.items():
            page.add_argument(argparse.Action([], "", metavar=name, help=summary))
        page.end_section()
        return page.format_help()


class _Page(argparse.HelpFormatter):
    """A page of help whose description keeps its paragraphs."""

    def __init__(self, prog: str, *, width: int) -> None:
        super().__init__(prog, max_help_position=34, width=width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.split("\n\n")
        fill = partial(super()._fill_text, width=width, indent=indent + "  ")
        return "\n\n".join(fill(paragraph) for paragraph in paragraphs)


def one_of(names: Sequence[str]) -> dict[str, Any]:
    """The `type` and `metavar` of an option whose value is one of `names`."""

    def known(text: str) -> str:
        if text not in names:
            listed = ", ".join(repr(name) for name in names)
            raise argparse.ArgumentTypeError(f"{text!r} is not one of {listed}")
        return text

    return {"type": known, "metavar": f"[{'|'.join(names)}]"}


def file_path(text: str) -> Path:
    """The `type` of a path that must not be a folder."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"File {text!r} is a directory")
    return path


def folder_path(text: str) -> Path:
    """The `type` of a path that must not be a file."""
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"Directory {text!r} is a file")
    return path


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the known one that it resembles, if any."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""
