"""A validation as text: a line a stage, then what failed with its log, then what is not proven."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from stackfix.report.console import show
from stackfix.report.plain import assemble, plain
from stackfix.validate.result import ON_CARDS, Outcome
from stackfix.wording import count, listed

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from stackfix.validate.result import Cause, StageResult, Validation

__all__ = ["show_validation"]

_MARK = {Outcome.PASSED: "✓", Outcome.FAILED: "✗", Outcome.SKIPPED: "–"}
_STYLE = {Outcome.PASSED: "green", Outcome.FAILED: "bold red", Outcome.SKIPPED: "dim"}
_MOST_FAULTS = 12
_LOG_LINES = 25


def show_validation(console: Console, validation: Validation) -> None:
    """Print all stages, and the whole of what is wrong."""
    show(console, _parts(validation))


def _parts(validation: Validation) -> Iterator[RenderableType]:
    yield _head(validation)
    yield _rows(validation)
    for stage in validation.failed:
        yield from _fault(stage)
    for note in validation.notes:
        yield assemble(("! ", "yellow"), note)
    yield from _end(validation)


def _head(validation: Validation) -> Text:
    cards = listed(validation.cards, 4) or "no card"
    installed = validation.installed
    python = f" · Python {installed.version} in {installed.python}" if installed else ""
    name = validation.project or "environment"
    return assemble((name, "bold"), f" on {cards}", (python, "dim"))


def _rows(validation: Validation) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for stage in validation.stages:
        table.add_row(
            plain(_MARK[stage.outcome], _STYLE[stage.outcome]),
            plain(stage.title, "bold" if stage.outcome is Outcome.FAILED else ""),
            plain(_said(stage), "dim" if stage.outcome is Outcome.SKIPPED else ""),
            plain(f"{stage.ending.seconds:.1f} s" if stage.ending else "", "dim"),
        )
    return table


def _said(stage: StageResult) -> str:
    if stage.outcome is not Outcome.PASSED:
        return _short(stage.reason, 300)
    passed = [check for check in stage.checks if check.outcome is Outcome.PASSED]
    skipped = [check for check in stage.checks if check.outcome is Outcome.SKIPPED]
    said = passed[0].detail if len(passed) == 1 else count(len(passed), "check")
    if skipped:
        names = listed([check.name for check in skipped], 3)
        said += f"; not checked: {names} ({skipped[0].detail})"
    return said


def _fault(stage: StageResult) -> Iterator[RenderableType]:
    yield assemble(f"\n{stage.title}", (f"  {_command(stage)}", "dim"))
    bad = [check for check in stage.checks if check.outcome is Outcome.FAILED]
    for check in bad[:_MOST_FAULTS]:
        line = assemble(("✗ ", "bold red"), (check.name, "bold"), f": {check.detail}")
        yield Padding(line, (0, 0, 0, 2))
    if len(bad) > _MOST_FAULTS:
        yield plain(f"  … and {count(len(bad) - _MOST_FAULTS, 'more check')}")
    if stage.cause:
        yield from _cause(stage.cause)
    lines = [line for line in stage.log.splitlines() if line.strip()]
    if len(lines) > _LOG_LINES:
        yield plain(f"    … {count(len(lines) - _LOG_LINES, 'line')} before", "dim")
    for logged in lines[-_LOG_LINES:]:
        yield plain(f"    {_short(logged, 400)}", "dim")


def _cause(cause: Cause) -> Iterator[RenderableType]:
    inside = (0, 0, 0, 2)
    yield Padding(assemble((cause.family, "bold"), f": {cause.meaning}"), inside)
    for fix in cause.fixes:
        command = f": {fix.command}" if fix.command else ""
        yield Padding(plain(f"→ {fix.kind}: {fix.text}{command}", "green"), inside)


def _command(stage: StageResult) -> str:
    ending = stage.ending
    if ending is None or ending.exit_code == 1:
        return ""
    if ending.limit:
        return f"ended by us: the limit of {ending.limit}"
    return ending.signal or f"exit code {ending.exit_code}"


def _end(validation: Validation) -> Iterator[RenderableType]:
    passed = [stage for stage in validation.stages if stage.outcome is Outcome.PASSED]
    failed, skipped = validation.failed, validation.skipped
    if failed:
        names = listed([stage.title for stage in failed])
        yield assemble((f"\n✗ {count(len(failed), 'stage')} failed", "bold red"), f": {names}")
    elif validation.ran_on_a_card and not skipped:
        yield plain("\n✓ all stages passed", "bold green")
    else:
        said = f"\n✓ passed what could run: {count(len(passed), 'stage')}"
        yield plain(said, "bold green")
    if missing := [stage for stage in skipped if stage.name != "install"]:
        names = listed([stage.title for stage in missing], 12)
        yield plain(f"not proven: {names}", "yellow")
    if not any(stage.name in ON_CARDS and stage not in skipped for stage in validation.stages):
        yield plain("nothing ran on a card: that the pins compute right is not shown", "yellow")
    installed = validation.installed
    if installed and installed.kept:
        yield plain(f"kept: {installed.kept}  (--reuse takes it again)", "dim")


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
