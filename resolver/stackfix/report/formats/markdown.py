"""Markdown for a pull-request comment: a table of what matters, the rest folded away."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stackfix.gate.result import Checked, Hit
from stackfix.report.findings import scope, via_words
from stackfix.report.formats.interface import Format, Totals
from stackfix.report.formats.words import counts, moved_lines, summary
from stackfix.wording import listed, one_line

__all__ = ["make"]

_MARKS = {"error": "❌", "warning": "⚠️", "info": "ℹ️"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#|~@!])")
_MOST = 50
"""Rows for one lock: a comment may have 65,536 characters."""


def make(*, colour: bool) -> Format:
    """The Markdown format."""
    return _Markdown()


class _Markdown:
    def begin(self) -> Iterator[str]:
        yield "## stackfix check\n"

    def lock(self, checked: Checked) -> Iterator[str]:
        told = [hit for hit in checked.hits if hit.severity != "info"]
        mark = "❌" if checked.fails else "✅"
        yield f"\n### {mark} {_text(checked.path)}: {counts(checked)}\n"
        if checked.targets:
            yield f"\nFor {_text(listed(checked.targets, 12))}.\n"
        if checked.moved:
            yield "\n**What moved**\n\n"
            yield from (f"- {_text(line)}\n" for line in moved_lines(checked.moved))
        if told:
            yield "\n| | rule | package | what | where |\n|---|---|---|---|---|\n"
            yield from (self._row(hit) for hit in told[:_MOST])
            if len(told) > _MOST:
                yield f"\n…and {len(told) - _MOST} more.\n"
        if checked.repaired:
            yield "\n**Repaired**\n\n"
            yield from (f"- {hit.code} {_text(hit.message)}\n" for hit in checked.repaired)
        yield from self._folded(checked, told)

    def _row(self, hit: Hit) -> str:
        what = _text(hit.message) + (f"<br>→ {_text(hit.fix)}" if hit.fix else "")
        where = [_text(part) for part in (scope(hit), via_words(hit)) if part]
        cells = (_MARKS[hit.severity], hit.code, _text(hit.title), what, "<br>".join(where))
        return f"| {' | '.join(cells)} |\n"

    def _folded(self, checked: Checked, told: list[Hit]) -> Iterator[str]:
        sources = dict.fromkeys(
            evidence.describe() for hit in told[:_MOST] for evidence in hit.evidence[:2]
        )
        if sources:
            yield "\n<details><summary>Evidence</summary>\n\n"
            yield from (f"- {_text(source)}\n" for source in sources)
            yield "\n</details>\n"
        if checked.unknown:
            yield f"\nNobody measured {_text(listed(checked.unknown, 12))}.\n"
        for note in checked.notes:
            yield f"\nNote: {_text(note)}.\n"

    def end(self, totals: Totals) -> Iterator[str]:
        yield f"\n{_text(summary(totals))}\n"


def _text(text: str) -> str:
    """Text that Markdown takes as it is: on one line, nothing in it a mark-up or a mention."""
    return _SPECIAL.sub(r"\\\1", one_line(text))
