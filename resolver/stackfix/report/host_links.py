"""The ways between the cards of a host: one line where all are alike, else a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table

from stackfix.report.plain import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from stackfix.host.host import Host

__all__ = ["links"]

_MOST = 16
"""Cards in a table; more do not fit a screen."""


def links(host: Host) -> Iterator[RenderableType]:
    """By the names of `nvidia-smi topo -m`: NV18 is eighteen NVLinks, "!" no direct access."""
    words = {link.words for link in host.links}
    if not host.cards or words <= {"?"}:
        return
    refused = any(word.endswith("!") for word in words)
    legend = "  (!: without direct access)" if refused else ""
    if len(words) == 1:
        yield plain(f"between the cards {words.pop()}{legend}", style="dim")
        return
    indices = sorted({index for link in host.links for index in (link.one, link.other)})
    known = {(link.one, link.other): link.words for link in host.links}
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(min(len(indices), _MOST) + 1):
        table.add_column(justify="right")
    shown = indices[:_MOST]
    table.add_row(*(plain(text, style="dim") for text in ("", *map(str, shown))))
    for one in shown:
        cells = ["-" if one == other else _cell(known, one, other) for other in shown]
        table.add_row(plain(f"  {one}", style="dim"), *(plain(cell) for cell in cells))
    yield table
    if legend:
        yield plain(legend, style="dim")
    if len(indices) > _MOST:
        yield plain(f"  and {len(indices) - _MOST} cards more", style="dim")


def _cell(known: dict[tuple[int, int], str], one: int, other: int) -> str:
    return known.get((min(one, other), max(one, other)), "?")
