"""Printing a result the way `--format` asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stackfix.documents.document import Document

__all__ = ["print_result", "print_text"]


def print_result(
    output_format: str,
    document: Callable[[], Document],
    text: Callable[[], Iterable[RenderableType | str]],
) -> None:
    """Print the document as JSON, or the text; the other of the two is never made."""
    if output_format == "json":
        from stackfix.documents.document import dump

        click.echo(dump(document()), nl=False)
    else:
        print_text(text())


def print_text(parts: Iterable[RenderableType | str]) -> None:
    """Print lines as they are; a report of other parts as its terminal or pipe takes it."""
    rest = iter(parts)
    for part in rest:
        if isinstance(part, str):
            click.echo(part)
            continue
        from stackfix.report.text import output_console, show

        show(output_console(), chain([part], rest))
