"""A diagnosis as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stackfix.report.console import show
from stackfix.wording import clean, count, listed

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from stackfix.diagnose.diagnosis import Diagnosis, Event
    from stackfix.diagnose.redact import Redactor

__all__ = ["show_diagnosis"]

_LINE = 300
"""Characters of a log's line that are shown."""
_REPEATS = 6
"""Wrappers and collaterals that are shown."""


def show_diagnosis(
    console: Console, diagnosis: Diagnosis, redactor: Redactor | None = None
) -> None:
    """Print the answer, then what it rests on, then what to do."""
    show(console, _Report(diagnosis, redactor).parts())


class _Report:
    def __init__(self, diagnosis: Diagnosis, redactor: Redactor | None) -> None:
        self._diagnosis = diagnosis
        self._redactor = redactor

    def parts(self) -> Iterator[RenderableType]:
        found = self._diagnosis
        rank = f", rank {found.rank}" if found.rank is not None else ""
        yield self._plain(
            f"{found.family.name}{rank} ({found.confidence.value} confidence)", "bold"
        )
        yield self._plain(found.family.meaning)
        yield self._plain("")
        yield from self._events("cause", found.cause)
        yield self._item("why", found.why)
        if found.stack_match is not None:
            yield self._item("stack", found.stack_match.sentence)
            for sentence in found.stack_match.findings:
                yield self._item("", sentence)
            for sentence in found.stack_match.host:
                yield self._item("host", sentence)
        for sentence in found.differing:
            yield self._item("nodes", sentence)
        yield from self._remedies()
        for sentence in found.unknown:
            yield self._item("not known", sentence)
        yield from self._events("also", found.others)
        yield from self._events("wrapper", found.wrappers[:_REPEATS])
        yield from self._events("collateral", found.collateral[:_REPEATS])
        yield from self._timeline()
        yield from self._about()

    def _remedies(self) -> Iterator[RenderableType]:
        found = self._diagnosis
        for remedy in found.remedies:
            yield self._item(f"fix ({remedy.kind.value})", remedy.text)
            if remedy.command:
                yield self._item("", f"    {remedy.command}")
        if found.verify:
            yield self._item("verify", found.verify)
        if found.remedies and found.family.name != "unknown_cause":
            yield self._item("mind", found.family.safety)

    def _timeline(self) -> Iterator[RenderableType]:
        steps = self._diagnosis.timeline
        if len(steps) < 2:
            return
        for number, step in enumerate(steps[:16]):
            who = f"rank {step.rank}" if step.rank is not None else "no rank"
            where = self._where(step.event)
            yield self._item(
                "" if number else "first events", f"{who}: {step.event.role.value} at {where}"
            )

    def _about(self) -> Iterator[RenderableType]:
        found = self._diagnosis
        if found.versions or found.cards:
            shown = [f"{name} {version}" for name, version in found.versions.items()]
            yield self._item("read", listed([*shown, *found.cards], most=12))
        for note in found.notes:
            yield self._item("note", note)
        yield self._plain("")
        yield self._plain(f"{count(found.lines, 'line')} in {count(found.files, 'file')}", "dim")

    def _events(self, name: str, events: tuple[Event, ...]) -> Iterator[RenderableType]:
        for event in events:
            rank = f" (rank {event.rank})" if event.rank is not None else ""
            yield self._item(name, f"{self._where(event)}{rank}: {event.text.strip()[:_LINE]}")

    def _where(self, event: Event) -> str:
        file = self._redactor.name(event.file) if self._redactor else event.file
        return f"{file}:{event.line}"

    def _item(self, name: str, text: str) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 1))
        table.add_column(width=13, no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row(Text(name, style="bold" if name == "cause" else ""), self._plain(text))
        return table

    def _plain(self, text: str, style: str = "") -> RenderableType:
        """Text as such: nothing that a log holds is taken for markup or an escape."""
        from rich.text import Text

        if self._redactor is not None:
            text = self._redactor.text(text)
        return Text(clean(text), style=style)
