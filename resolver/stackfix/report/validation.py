"""A validation as a document and as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from stackfix.documents.document import Document
from stackfix.documents.target import TargetDocument
from stackfix.report.diagnosis import RemedyDocument
from stackfix.report.text import assemble, grid, indented, plain
from stackfix.validate.result import ON_CARDS, Check, Outcome, ProcessEnding
from stackfix.wording import count, listed

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from stackfix.validate.result import Cause, StageResult, Validation

__all__ = ["ValidationDocument", "validation_document", "validation_text"]

_MARK = {Outcome.PASSED: "✓", Outcome.FAILED: "✗", Outcome.SKIPPED: "–"}
_STYLE = {Outcome.PASSED: "green", Outcome.FAILED: "bold red", Outcome.SKIPPED: "dim"}
_MOST_FAULTS = 12
_LOG_LINES = 25


class CauseDocument(Document):
    """The fault that a stage's log names."""

    family: str
    """As `stackfix diagnose` names it."""
    meaning: str
    line: str
    """The line of the log that shows it."""
    fixes: tuple[RemedyDocument, ...]


class StageDocument(Document):
    """One stage."""

    name: str
    """install, lock, code, versions, import-PACKAGE, libraries, conv, attention, nccl, compiled,
    jax-conv or jax-collectives."""
    title: str
    outcome: Outcome
    reason: str
    """Why it failed or was skipped, in one line; empty for a stage that passed."""
    checks: tuple[Check, ...]
    facts: dict[str, Any]
    """What the stage found that is neither right nor wrong."""
    ending: ProcessEnding | None
    """How its process ended; null: none ran."""
    log: str
    """What the process of a failed stage printed: its beginning and its end."""
    cause: CauseDocument | None
    """The fault that the log names; null: none that is known."""


class ProvenEnvironmentDocument(Document):
    """The environment that was proven."""

    python: str
    """Its interpreter."""
    version: str
    """Of Python."""
    scratch: bool
    """Whether it was made for this run."""
    kept: str | None
    """The folder of a scratch environment that was kept."""
    packages: dict[str, str]
    """Versions of the GPU packages by name."""


class ValidationDocument(Document):
    """What `stackfix validate --format json` prints."""

    schema: Literal[1]
    project: str | None
    """null: an environment without a project."""
    lock: str | None
    """sha256 of the uv.lock that was installed, or that the environment was compared with."""
    targets: tuple[TargetDocument, ...]
    cards: tuple[str, ...]
    """The cards that the kernels could use."""
    quick: bool
    environment: ProvenEnvironmentDocument | None
    """null: nothing could be installed."""
    outcome: Literal["passed", "failed"]
    """passed: no stage failed; some may have been skipped."""
    ran_on_a_card: bool
    """Whether a stage that needs a card passed."""
    stages: tuple[StageDocument, ...]
    notes: tuple[str, ...]


def validation_document(validation: Validation) -> ValidationDocument:
    """The validation as a document."""
    return ValidationDocument.of(
        validation,
        schema=1,
        environment=validation.installed,
        outcome="failed" if validation.failed else "passed",
    )


def validation_text(validation: Validation) -> Iterator[RenderableType]:
    """A line a stage, then what failed with its log, then what is not proven."""
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
    table = grid()
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
        yield indented(line)
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
    yield indented(assemble((cause.family, "bold"), f": {cause.meaning}"))
    for fix in cause.fixes:
        command = f": {fix.command}" if fix.command else ""
        yield indented(plain(f"→ {fix.kind}: {fix.text}{command}", "green"))


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
