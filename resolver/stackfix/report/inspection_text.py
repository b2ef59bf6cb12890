"""What was inspected as text, from its document and verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from stackfix.audit.binaries import Verdict, library_verdict, package_verdict
from stackfix.report.columns import COLUMNS, LETTERS, STYLES
from stackfix.report.console import show
from stackfix.report.findings_text import findings_table
from stackfix.report.plain import assemble, plain
from stackfix.wording import count, listed

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from stackfix.model.finding import Finding
    from stackfix.model.target import Target
    from stackfix_knowledge.inspect.package import Inspected
    from stackfix_knowledge.wheels.coverage import LibraryCoverage, Share

__all__ = ["show_inspection"]

_NAME_WIDTH = 37
_PYTHON_TAG = re.compile(r"\.(cpython-\d+[a-z]*-[\w-]+|abi3)(?=\.so$)")
"""The part of a module's file name that only Python reads."""
_MOST_CARDS = 4
"""With more targets than this the columns hold letters and percentages, not words."""


def show_inspection(
    console: Console,
    packages: Sequence[Inspected],
    targets: Sequence[Target],
    findings: Sequence[Finding],
) -> None:
    """Print the libraries by package, with what each card can do with their code."""
    show(console, _parts(packages, targets, findings))


def _parts(
    packages: Sequence[Inspected], targets: Sequence[Target], findings: Sequence[Finding]
) -> Iterator[RenderableType]:
    shown = [one for one in packages if one.wheel.coverage and one.wheel.coverage.libraries]
    if shown:
        yield _table(shown, targets)
        yield _legend(targets)
    else:
        yield plain("no GPU code")
    for one in packages:
        for ptxas in one.wheel.ptxas:
            line = f"ptxas of CUDA {ptxas.cuda}: {listed(ptxas.targets, 30)}"
            yield assemble((_title(one), "bold"), f"  {line}")
    rest = sum(not one.wheel.ptxas for one in packages if one not in shown)
    if rest and shown:
        yield plain(f"{count(rest, 'package')} with libraries and without GPU code", "dim")
    if targets:
        yield from _judgement(findings, targets)


def _table(packages: Sequence[Inspected], targets: Sequence[Target]) -> Table:
    cards = [target.capability for target in targets] or list(COLUMNS)
    heads = [target.short for target in targets] or [str(card) for card in COLUMNS]
    words = 0 < len(targets) <= _MOST_CARDS
    table = Table.grid(padding=(0, 2 if words else 1, 0, 0))
    table.add_column(no_wrap=True)
    for _ in heads:
        table.add_column(justify="left" if words else "right", no_wrap=True)
    table.add_row("", *(plain(head, "bold") for head in heads))
    for one in packages:
        verdicts = [package_verdict(one.wheel, card) for card in cards]
        table.add_row(plain(_title(one), "bold"), *(_state(verdict, words) for verdict in verdicts))
        toolkit = one.wheel.coverage.toolkit if one.wheel.coverage else None
        for library in one.wheel.coverage.libraries if one.wheel.coverage else ():
            cells = [library_verdict(library, card, toolkit) for card in cards]
            table.add_row(
                _library(library, counts=cells[0].state is not None),
                *(_worded(cell) if words else _percent(cell) for cell in cells),
            )
    return table


def _legend(targets: Sequence[Target]) -> Text:
    aside = "· does not count for the verdict: code for some cards or one feature alone"
    if 0 < len(targets) <= _MOST_CARDS:
        return plain(f"containers of GPU code by what the card runs; {aside}", "dim")
    return plain(
        "percent of containers that the card runs, j: compiled by the driver (JIT), m: some so\n"
        f"{aside}\nS supported, J by JIT alone, P a part only, – none, ? not known",
        "dim",
    )


def _judgement(findings: Sequence[Finding], targets: Sequence[Target]) -> Iterator[RenderableType]:
    # All of it was measured in the very files that were named.
    table = findings_table([replace(finding, evidence=()) for finding in findings], targets)
    if table is not None:
        yield plain("\nFound", "bold")
        yield Padding(table, (0, 0, 0, 2))
    elif not any(finding.severity == "info" for finding in findings):
        yield plain("\n✓ code for every target", "bold green")
    for message in dict.fromkeys(f.message for f in findings if f.severity == "info"):
        yield plain(f"· {message}", "dim")


def _title(inspected: Inspected) -> str:
    if inspected.package is None:
        return inspected.wheel.file or str(inspected.place)
    return f"{inspected.package} {inspected.version}"


def _library(library: LibraryCoverage, *, counts: bool) -> Text:
    name = _PYTHON_TAG.sub("", library.name)
    shown = name if len(name) <= _NAME_WIDTH else f"…{name[1 - _NAME_WIDTH :]}"
    return plain(f"{'  ' if counts else '· '}{shown}", "" if counts else "dim")


def _state(verdict: Verdict, words: bool) -> Text:
    state = verdict.state.value if verdict.state else "unknown"
    return plain(state if words else LETTERS[state], STYLES[state])


def _worded(verdict: Verdict) -> Text:
    share = _counted(verdict)
    parts = [
        f"{number} {name}"
        for number, name in ((share.native, "native"), (share.jit, "JIT"), (share.none, "none"))
        if number
    ]
    return plain(", ".join(parts), _style(verdict))


def _percent(verdict: Verdict) -> Text:
    share = _counted(verdict)
    runs = share.native + share.jit
    if not runs:
        return plain("–", _style(verdict))
    percent = round(100 * runs / share.total)
    shown = 100 if runs == share.total else min(max(percent, 1), 99)
    how = "" if not share.jit else "m" if share.native else "j"
    return plain(f"{shown}{how}", _style(verdict))


def _counted(verdict: Verdict) -> Share:
    return verdict.judged if verdict.state else verdict.every


def _style(verdict: Verdict) -> str:
    return STYLES[verdict.state.value] if verdict.state else "dim"
