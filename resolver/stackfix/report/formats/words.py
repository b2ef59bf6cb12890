"""What several formats of a check say in the same words."""

from __future__ import annotations

from collections.abc import Iterable

from stackfix.gate.result import Checked, Moved
from stackfix.model.finding import Severity
from stackfix.report.formats.interface import Totals
from stackfix.wording import count, listed

__all__ = ["counts", "moved_lines", "summary"]


def moved_lines(moves: Iterable[Moved]) -> list[str]:
    """A line for each meaning: what moves with the same consequences stands in one.

    "torch 2.10.0 → 2.11.0: CUDA 12.8 → 13.0, drops 7.0 (matters to v100-pool)".
    """
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Moved]] = {}
    for move in moves:
        alike.setdefault((move.details, move.matters_to), []).append(move)
    return [_meaning([_step(move) for move in same], same[0]) for same in alike.values()]


def _step(move: Moved) -> str:
    if move.was:
        return f"{move.was} {move.before} → {move.package} {move.after}"
    return f"{move.package} {move.before or 'new'} → {move.after or 'gone'}"


def _meaning(steps: list[str], move: Moved) -> str:
    line = ", ".join(steps)
    if move.details:
        line += f": {', '.join(move.details)}"
    if move.matters_to:
        line += f" (matters to {listed(move.matters_to)})"
    return line


def counts(checked: Checked | Totals) -> str:
    """ "4 errors, 2 warnings"; "nothing found". What is only worth knowing does not count."""
    if isinstance(checked, Totals):
        numbers = (checked.errors, checked.warnings)
    else:
        numbers = (checked.count(Severity.ERROR), checked.count(Severity.WARNING))
    parts = [
        count(number, noun)
        for number, noun in zip(numbers, ("error", "warning"), strict=True)
        if number
    ]
    return ", ".join(parts) or "nothing found"


def summary(totals: Totals) -> str:
    """One line over all locks."""
    line = f"checked {count(totals.locks, 'lock')} for {count(len(totals.targets), 'target')}"
    line += f": {counts(totals)}"
    if totals.base:
        line += f" that {totals.base} did not have, {totals.repaired} repaired"
    if totals.ignored:
        line += f", {totals.ignored} ignored"
    return line
