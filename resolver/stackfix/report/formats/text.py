"""Plain text for a terminal or a log, without the machinery that draws tables."""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.gate.result import Checked
from stackfix.report.findings import findings_lines
from stackfix.report.formats.interface import Format, Totals
from stackfix.report.formats.words import counts, moved_lines, summary
from stackfix.report.text import Span, painted, wrapped
from stackfix.wording import clean, count, listed

__all__ = ["make"]


def make(*, colour: bool) -> Format:
    """The text format; `colour` for a terminal that wants it."""
    return _Text(colour)


class _Text:
    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def begin(self) -> Iterator[str]:
        return iter(())

    def lock(self, checked: Checked) -> Iterator[str]:
        yield from self._headline(checked)
        for line in moved_lines(checked.moved):
            yield from self._item("  ↻ ", line)
        yield from findings_lines(checked.hits, colour=self._colour)
        for hit in checked.repaired:
            yield from self._item("  ✓ ", f"repaired: {hit.code} {hit.message}", "green")
        yield from self._rest(checked)

    def _headline(self, checked: Checked) -> Iterator[str]:
        """The lock and what was found for whom; its name alone where there is nothing to tell."""
        mark: Span = ("✗ ", "bold red") if checked.fails else ("✓ ", "green")
        quiet = all(hit.severity == "info" for hit in checked.hits)
        if quiet and not checked.moved and not checked.repaired and not checked.notes:
            yield painted([mark, (clean(checked.path), "")], self._colour)
            return
        against = f" against {checked.base}" if checked.base else ""
        said = f"{clean(checked.path + against)}: {counts(checked)}"
        yield painted([mark, (said, "")], self._colour)
        if checked.targets:
            yield f"  for {clean(listed(checked.targets, 12))}\n"

    def _rest(self, checked: Checked) -> Iterator[str]:
        for note in checked.notes:
            yield from self._item("  note: ", note)
        if checked.unknown:
            yield from self._aside(f"nobody measured {listed(checked.unknown, 4)}")
        if checked.unread:
            packages = count(len(checked.unread), "package")
            yield from self._aside(
                f"the requirements of {packages} beside the GPU stack were not read "
                "(--online reads them)"
            )
        if checked.kept:
            yield from self._aside(f"{count(checked.kept, 'finding')} that were there before")

    def end(self, totals: Totals) -> Iterator[str]:
        yield f"{clean(summary(totals))}\n"

    def _item(self, mark: str, text: str, style: str = "") -> Iterator[str]:
        return wrapped((mark, style), [(text, style)], colour=self._colour)

    def _aside(self, text: str) -> Iterator[str]:
        return self._item("  · ", text, "dim")
