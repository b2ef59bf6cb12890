"""The table of commands. A command's module is imported only when the command runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile
from typing import NoReturn

from stackfix.cli.failures import BAD_INPUT, UsageError
from stackfix.cli.parser import Parser, nearest
from stackfix.cli.printing import print_line

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
"""Name -> module, and the line that `--help` shows.

A module has `configure`, which adds options to a parser, and `run`, which takes what was chosen,
returns the exit code, and whose docstring is the command's help; or it has COMMANDS of its own.
"""


def stackfix(arguments: Sequence[str]) -> int:
    """Run `stackfix` with these arguments and return its exit code."""
    about = "Move a project's GPU stack together until it supports the card in the machine."
    parser = Parser("stackfix", about, commands=COMMANDS)
    parser.add_argument(
        "-V", "--version", action=_ShowVersion, nargs=0, help="Show the version and exit."
    )
    return _run(parser, arguments)


def _run(parser: Parser, arguments: Sequence[str]) -> int:
    """Run the command below the parser's that the arguments name."""
    own = list(takewhile(lambda argument: argument.startswith("-"), arguments))
    parser.parse(own)
    if len(own) == len(arguments):
        parser.print_help(sys.stderr)
        return BAD_INPUT
    name, *rest = arguments[len(own) :]
    if name not in parser.commands:
        parser.error(f"No such command '{name}'{nearest(name, parser.commands)}")
    module = import_module(parser.commands[name][0])
    prog = f"{parser.prog} {name}"
    if commands := getattr(module, "COMMANDS", None):
        return _run(Parser(prog, module.__doc__, commands=commands), rest)
    parser = Parser(prog, module.run.__doc__)
    module.configure(parser)
    try:
        code: int = module.run(parser.parse(rest))
    except UsageError as error:
        error.command = prog
        raise
    return code


class _ShowVersion(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from stackfix.cli.version import version

        print_line(f"stackfix {version()}")
        raise SystemExit(0)
