"""The text layer: content taken as it is, in styles that a terminal shows and a pipe never gets.

A piece of text is a list of spans, each with a style. Whole reports go through rich, which draws
tables and knows terminals; a check, which has to be over before rich is imported, wraps its spans
itself. Nothing foreign is taken for markup or obeyed by a terminal.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import IO, TYPE_CHECKING

from stackfix.wording import clean, one_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

__all__ = [
    "MARKS",
    "STYLES",
    "Span",
    "assemble",
    "error_console",
    "grid",
    "heading",
    "indented",
    "output_console",
    "painted",
    "plain",
    "progress",
    "show",
    "wrapped",
]

Span = tuple[str, str]
"""A text and its style, in rich's words: "bold red", "dim" or ""."""

MARKS = {"error": "✗", "warning": "!", "info": "·"}
"""How a line of each severity begins."""
STYLES = {"error": "bold red", "warning": "yellow", "info": "dim"}

_PIPE_WIDTH = 100
"""Columns where nobody has a screen; COLUMNS overrules it."""
_WIDEST = 140
"""Lines longer than this are no longer read at a glance."""
_ANSI = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def wrapped(mark: Span, spans: Iterable[Span], *, colour: bool) -> Iterator[str]:
    """Lines of 100 columns behind a mark, those after the first moved in as far; without rich."""
    line, width = [mark], len(mark[0])
    for text, style in spans:
        for number, word in enumerate(re.split(r"\s+", clean(text))):
            gap = " " if number else ""
            if gap and width + 1 + len(word) > _PIPE_WIDTH and len(line) > 1:
                yield painted(line, colour)
                line, width, gap = [(" " * len(mark[0]), "")], len(mark[0]), ""
            line.append((gap + word, style))
            width += len(gap) + len(word)
    yield painted(line, colour)


def painted(line: Iterable[Span], colour: bool) -> str:
    """One line, in the colours of a terminal or none; without rich."""
    styled = groupby(line, key=lambda span: span[1])
    text = ""
    for style, spans in styled:
        words = "".join(word for word, _ in spans)
        if colour and style and not words.isspace():
            codes = ";".join(_ANSI[name] for name in style.split())
            words = f"\x1b[{codes}m{words}\x1b[0m"
        text += words
    return text.rstrip() + "\n"


def plain(text: str, style: str = "") -> Text:
    """One text in one style."""
    from rich.text import Text

    return Text(clean(text), style=style)


def assemble(*parts: str | Span) -> Text:
    """Texts after each other, each alone or with its style."""
    text = plain("")
    for part in parts:
        content, style = (part, "") if isinstance(part, str) else part
        text.append(clean(content), style=style)
    return text


def heading(text: str) -> Text:
    """The title of a section, with an empty line before it."""
    return plain(f"\n{text}", "bold underline")


def grid(*, gap: int = 2) -> Table:
    """A table without lines; each column as wide as it needs."""
    from rich.table import Table

    return Table.grid(padding=(0, gap, 0, 0))


def indented(part: RenderableType, by: int = 2) -> Padding:
    """A part of a report, moved in."""
    from rich.padding import Padding

    return Padding(part, (0, 0, 0, by))


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
        _print(console, parts)
        return
    with console.capture() as captured:
        _print(console, parts)
    text = "\n".join(line.rstrip() for line in captured.get().split("\n"))
    console.file.write(text)


def _print(console: Console, parts: Iterable[RenderableType]) -> None:
    for part in parts:
        # A text that is not to be wrapped, such as a command to copy, may be wider than the screen.
        console.print(part, soft_wrap=bool(getattr(part, "no_wrap", False)))


@contextlib.contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A line that tells what is being done, on a terminal only. Yields the function to tell it."""
    console = error_console() if sys.stderr.isatty() and not quiet else None
    if console is None or not console.is_terminal:
        yield lambda text: None
        return
    from rich.text import Text

    def told(text: str) -> Text:
        """One line, whatever uv or a file name holds."""
        line = Text(one_line(text), no_wrap=True, overflow="ellipsis")
        line.truncate(console.width - 4, overflow="ellipsis")
        return line

    with console.status(told("reading the project")) as status:
        yield lambda text: status.update(told(text))
