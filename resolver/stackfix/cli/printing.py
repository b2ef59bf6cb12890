"""Printing: lines, notes beside the result, and a result the way `--format` asks for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stackfix.documents.document import Document

__all__ = ["print_line", "print_note", "print_result", "print_text"]


def print_line(text: str, *, end: str = "\n") -> None:
    """Print a line of the result, at once."""
    sys.stdout.write(text + end)
    sys.stdout.flush()


def print_note(text: str) -> None:
    """Print a line that is no part of the result, to standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def print_result(
    output_format: str,
    document: Callable[[], Document],
    text: Callable[[], Iterable[RenderableType | str]],
) -> None:
    """Print the document as JSON, or the text; the other of the two is never made."""
    if output_format == "json":
        from stackfix.documents.document import dump

        print_line(dump(document()), end="")
    else:
        print_text(text())


def print_text(parts: Iterable[RenderableType | str]) -> None:
    """Print lines as they are; a report of other parts as its terminal or pipe takes it."""
    rest = iter(parts)
    for part in rest:
        if isinstance(part, str):
            print_line(part)
            continue
        from stackfix.report.text import output_console, show

        show(output_console(), chain([part], rest))
