"""Where text goes: a terminal gets colour and its width, a pipe gets plain lines."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["error_console", "output_console", "progress", "show"]

_PIPE_WIDTH = 100
"""Columns where nobody has a screen; COLUMNS overrules it."""
_WIDEST = 140
"""Lines longer than this are no longer read at a glance."""


def output_console() -> Console:
    """The standard output."""
    return _console(sys.stdout)


def error_console() -> Console:
    """The standard error: progress and notes, never results."""
    return _console(sys.stderr)


def _console(file: IO[str]) -> Console:
    from rich.console import Console

    console = Console(file=file, highlight=False, emoji=False, markup=False)
    if console.is_terminal:
        console.width = min(console.width, _WIDEST)
    elif not os.environ.get("COLUMNS", "").isdecimal():
        console.width = _PIPE_WIDTH
    return console


def show(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print the parts; outside a terminal without the blanks that fill up columns."""
    if console.is_terminal:
        for part in parts:
            console.print(part)
        return
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    text = "\n".join(line.rstrip() for line in captured.get().split("\n"))
    console.file.write(text)


@contextlib.contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A line that tells what is being done, on a terminal only. Yields the function to tell it."""
    console = error_console() if sys.stderr.isatty() and not quiet else None
    if console is None or not console.is_terminal:
        yield lambda text: None
        return
    from rich.text import Text

    from stackfix.wording import one_line

    def told(text: str) -> Text:
        """One line, whatever uv or a file name holds."""
        line = Text(one_line(text), no_wrap=True, overflow="ellipsis")
        line.truncate(console.width - 4, overflow="ellipsis")
        return line

    with console.status(told("reading the project")) as status:
        yield lambda text: status.update(told(text))
