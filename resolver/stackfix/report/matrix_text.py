"""A matrix as text, from its document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table

from stackfix.report.columns import LETTERS, STYLES
from stackfix.report.console import show
from stackfix.report.plain import assemble, plain

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["show_matrix"]


def show_matrix(console: Console, document: Mapping[str, Any]) -> None:
    """Print one line for each release, one column for each card."""
    show(console, _parts(document))


def _parts(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    yield assemble((document["package"], "bold"), (f"  {document['platform']}", "dim"))
    if not document["judged"]:
        yield plain("its wheels hold no GPU code: nothing in them depends on the card", "dim")
        return
    yield _table(document)
    yield plain("S supported, J by JIT alone, P a part only, – none, ? nobody measured it", "dim")
    if any(row["disputed"] for row in document["releases"]):
        yield plain("* the vendor's matrix says otherwise", "dim")
    yield plain(f"facts of {document['knowledge']}", "dim")


def _table(document: Mapping[str, Any]) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    for _ in document["capabilities"]:
        table.add_column(justify="right", no_wrap=True)
    table.add_row("", "", *(plain(card, "bold") for card in document["capabilities"]))
    for row in document["releases"]:
        cells = []
        for card in document["capabilities"]:
            state = row["states"][card]
            mark = "*" if card in row["disputed"] else ""
            cells.append(plain(f"{LETTERS[state]}{mark}", STYLES[state]))
        table.add_row(plain(row["version"], "bold"), plain(_remark(row), "dim"), *cells)
    return table


def _remark(row: Mapping[str, Any]) -> str:
    if row["cpu_only"]:
        return "CPU only"
    cuda = f"CUDA {row['cuda']}" if row["cuda"] else ""
    return f"{cuda} withdrawn".strip() if row["yanked"] else cuda
