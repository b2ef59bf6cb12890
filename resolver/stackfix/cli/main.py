"""The entry point: `stackfix`, its commands, and what becomes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import NoReturn

__all__ = ["main", "run"]


def run() -> NoReturn:
    """Run the command line of this process and exit."""
    if isinstance(sys.stdout, TextIOWrapper):  # what a terminal cannot show must not end the run
        sys.stdout.reconfigure(errors="backslashreplace")
    code = main(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # nobody reads any more
        code = code or 141
    # What is left is memory, which the system takes back at once. Freeing the objects of a lock
    # one by one takes an eighth of a whole check.
    os._exit(code)


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; errors are one line on stderr.

    Codes: 0 fine, 1 findings, 2 usage or bad input, 3 no plan exists, 130 interrupted, 141 the
    reader of the output went away.
    """
    from stackfix.cli.failures import failure_of

    try:
        from stackfix.cli.commands import stackfix

        code = stackfix(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return 141
    except BaseException as error:
        failure = failure_of(error, arguments)
        if failure.line:
            print(failure.line, file=sys.stderr)  # noqa: T201
        return failure.code
    return code


def _forget_output() -> None:
    """Keep the interpreter from complaining, at exit, about a pipe that nobody reads."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
