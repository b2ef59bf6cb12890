"""Workflow commands of GitHub Actions, which show findings beside the lines of a change."""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.audit.locations import Location
from stackfix.gate.result import Checked, Hit
from stackfix.report.findings import sentence
from stackfix.report.formats.interface import Format, Totals
from stackfix.report.formats.words import moved_lines, summary
from stackfix.wording import clean

__all__ = ["make"]

_LEVELS = {"error": "error", "warning": "warning", "info": "notice"}


def make(*, colour: bool) -> Format:
    """The format of GitHub's annotations."""
    return _GitHub()


class _GitHub:
    def begin(self) -> Iterator[str]:
        return iter(())

    def lock(self, checked: Checked) -> Iterator[str]:
        for hit in checked.hits:
            if hit.severity != "info":
                yield _command(hit, hit.lock or Location(file=checked.path, line=1))
        for line in moved_lines(move for move in checked.moved if move.matters_to):
            yield f"::notice file={_property(checked.path)},title=moved::{_data(line)}\n"

    def end(self, totals: Totals) -> Iterator[str]:
        yield f"{_data(summary(totals))}\n"


def _command(hit: Hit, place: Location) -> str:
    title = f"{hit.code} {hit.title}"
    text = sentence(hit) + (f"\n→ {hit.fix}" if hit.fix else "")
    where = f"file={_property(place.file)},line={place.line},title={_property(title)}"
    return f"::{_LEVELS[hit.severity]} {where}::{_data(text)}\n"


def _data(text: str) -> str:
    """A command's text: nothing in it ends the line or begins another command."""
    escaped = clean(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f" {escaped}" if escaped.startswith("::") else escaped


def _property(text: str) -> str:
    return _data(text).strip().replace(":", "%3A").replace(",", "%2C")
