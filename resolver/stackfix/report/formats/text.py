"""Plain text for a terminal or a log, without the machinery that draws tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stackfix.gate.result import Checked, Hit
from stackfix.report.formats.interface import Format, Totals
from stackfix.report.formats.words import counts, moved_lines, scope, summary, via_words
from stackfix.wording import clean, count, listed

__all__ = ["make"]

_WIDTH = 100
_MARKS = {"error": "✗", "warning": "!", "info": "·"}
_COLOURS = {"error": "\x1b[1;31m", "warning": "\x1b[33m", "info": "\x1b[2m", "good": "\x1b[32m"}
_RESET = "\x1b[0m"


def make(*, colour: bool) -> Format:
    """The text format; `colour` for a terminal that wants it."""
    return _Text(colour)


class _Text:
    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def begin(self) -> Iterator[str]:
        return iter(())

    def lock(self, checked: Checked) -> Iterator[str]:
        told = [hit for hit in checked.hits if hit.severity != "info"]
        if not told and not checked.moved and not checked.repaired and not checked.notes:
            yield f"{self._paint('good', '✓')} {clean(checked.path)}\n"
            yield from self._rest(checked)
            return
        mark = self._paint("error", "✗") if checked.fails else self._paint("good", "✓")
        against = f" against {checked.base}" if checked.base else ""
        yield f"{mark} {clean(checked.path)}{clean(against)}: {counts(checked)}\n"
        if checked.targets:
            yield f"  for {clean(listed(checked.targets, 12))}\n"
        for line in moved_lines(checked.moved):
            yield from self._wrapped(line, "  ↻ ")
        for same in _grouped(told):
            yield from self._alike(same)
        for hit in checked.repaired:
            yield from self._wrapped(f"repaired: {hit.code} {hit.message}", "  ✓ ", "good")
        yield from self._rest(checked)

    def _alike(self, same: list[Hit]) -> Iterator[str]:
        """Hits that say the same of several packages, as one."""
        hit = same[0]
        mark = f"  {_MARKS[hit.severity]} "
        where = scope(hit)
        titles = ", ".join(one.title for one in same)
        message = (
            f"{hit.code} {titles}: {_rest(hit)}" if len(same) > 1 else f"{hit.code} {hit.message}"
        )
        yield from self._wrapped(message + (f" [{where}]" if where else ""), mark, hit.severity)
        if hit.fix:
            yield from self._wrapped(hit.fix, "      → ")
        source = _source(same)
        parts = [via_words(hit) if len(same) == 1 else "", source]
        if said := " · ".join(part for part in parts if part):
            yield from self._wrapped(said, "      ", "info")

    def _rest(self, checked: Checked) -> Iterator[str]:
        for note in checked.notes:
            yield from self._wrapped(note, "  note: ")
        if checked.unknown:
            said = f"nobody measured {listed(checked.unknown, 4)}"
            yield from self._wrapped(said, "  · ", "info")
        if checked.unread:
            said = (
                f"the requirements of {count(len(checked.unread), 'package')} beside the GPU stack "
                "were not read (--online reads them)"
            )
            yield from self._wrapped(said, "  · ", "info")
        if checked.kept:
            said = f"{count(checked.kept, 'finding')} that were there before"
            yield from self._wrapped(said, "  · ", "info")

    def end(self, totals: Totals) -> Iterator[str]:
        yield f"{clean(summary(totals))}\n"

    def _wrapped(self, text: str, mark: str, style: str = "") -> Iterator[str]:
        blank = " " * len(mark)
        line = mark
        empty = True
        for word in clean(text).split():
            if not empty and len(line) + 1 + len(word) > _WIDTH:
                yield self._paint(style, line) + "\n"
                line, empty = blank, True
            line += word if empty else f" {word}"
            empty = False
        yield self._paint(style, line) + "\n"

    def _paint(self, style: str, text: str) -> str:
        if not self._colour or style not in _COLOURS:
            return text
        return f"{_COLOURS[style]}{text}{_RESET}"


def _grouped(hits: Iterable[Hit]) -> Iterable[list[Hit]]:
    groups: dict[object, list[Hit]] = {}
    for hit in hits:
        key = (hit.code, hit.severity, _rest(hit), hit.targets, hit.only, hit.fix)
        groups.setdefault(key, []).append(hit)
    return groups.values()


def _rest(hit: Hit) -> str:
    """The message after "torch 2.7.1"."""
    return hit.message.removeprefix(hit.title).lstrip(": ")


def _source(same: list[Hit]) -> str:
    """Who says so: the kind alone where the source is the package's own wheel."""
    hit = same[0]
    if not hit.evidence:
        return ""
    first, more = hit.evidence[0], len(hit.evidence) - 1
    own = first.source.lower().startswith(f"{hit.package.replace('-', '_')}-")
    said = first.kind.value if own else f"{first.kind.value}: {first.source}"
    return said + (f" and {more} more" if more else "")
