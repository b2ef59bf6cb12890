"""Which event started it: by class first, by time only within one host."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import InvalidVersion, Version

from stackfix.diagnose.diagnosis import Event
from stackfix.diagnose.events import LogReading
from stackfix.diagnose.facts import RunFacts
from stackfix_knowledge.cards.gpus import GpuTable
from stackfix_knowledge.logs.signatures import (
    CrashStage,
    EndSign,
    LineRole,
    LogCondition,
    Signature,
)

__all__ = ["causes_in_order", "choose_signatures", "mark_survived"]

_ALONE = CrashStage.PROCESS
"""From this stage on even a weak sign counts alone: it tells how a process ended."""
_AFTERWARDS = 5
"""Lines that must follow a failure before an end that looks well speaks for a recovery."""


def choose_signatures(events: Sequence[Event], facts: RunFacts, gpus: GpuTable) -> None:
    """Settle for each event which of its candidates holds."""
    for event in events:
        event.signature = next(
            (s for s in event.candidates if _holds(s.when, event, facts, gpus)), None
        )


def _holds(when: LogCondition | None, event: Event, facts: RunFacts, gpus: GpuTable) -> bool:
    if when is None:
        return True
    if when.wsl and facts.wsl is None:
        return False
    if when.trail is not None and not any(when.trail.search(line) for line in event.trail):
        return False
    if when.nccl is not None or when.nccl_is:
        version = _version(facts.version("nccl"))
        if version is None:
            return False
        if when.nccl is not None and not when.nccl.contains(version):
            return False
        if when.nccl_is and version not in when.nccl_is:
            return False
    if when.card is not None:
        cards = [gpus.find(name) for name in facts.cards]
        if not any(card is not None and card.capability == when.card for card in cards):
            return False
    return True


def _version(text: str | None) -> Version | None:
    try:
        return Version(text) if text else None
    except InvalidVersion:
        return None


def mark_survived(events: Sequence[Event], readings: Sequence[LogReading]) -> None:
    """Mark what a log's good end shows to have been survived."""
    for reading in readings:
        if not reading.ending.well:
            continue
        own = [event for event in events if event.file == reading.name]
        failures = [
            event
            for event in own
            if event.role in (LineRole.CAUSE, LineRole.WRAPPER, LineRole.COLLATERAL)
            and event.stage >= CrashStage.STACK
        ]
        ended = any(event.signature and EndSign.ENDED in event.signature.end for event in own)
        if (
            failures
            and not ended
            and reading.lines - max(event.line for event in failures) >= _AFTERWARDS
        ):
            for event in failures:
                event.handled = True


def _has_failed(events: Sequence[Event], besides: Event | None = None) -> bool:
    """Whether some event, other than weak signs, shows that the run failed."""
    return any(
        event is not besides
        and not event.handled
        and (
            event.role in (LineRole.WRAPPER, LineRole.COLLATERAL, LineRole.HANG)
            or (event.role is LineRole.CAUSE and event.signature and not event.signature.weak)
        )
        for event in events
    )


def causes_in_order(events: Sequence[Event]) -> list[Event]:
    """The events that may have started it, the likeliest first."""
    causes = [
        event
        for event in events
        if event.role is LineRole.CAUSE and not event.handled and _counts(event, events)
    ]
    earlier = _first_sign_of_failure(events)
    return sorted(causes, key=lambda event: _key(event, earlier))


def _counts(event: Event, events: Sequence[Event]) -> bool:
    signature = event.signature
    assert signature is not None
    if not signature.weak:
        return True
    if signature.stage is CrashStage.KILLED:
        return not _explains_the_end(signature, events)
    return signature.stage >= _ALONE or _has_failed(events, besides=event)


def _explains_the_end(signature: Signature, events: Sequence[Event]) -> bool:
    """Whether something else tells why a process ended by this signal."""
    if any(event.role is LineRole.HANG and not event.handled for event in events):
        return True
    if EndSign.ABORT not in signature.end:
        return False
    return any(
        event.signature is not None and EndSign.ABORTS in event.signature.end for event in events
    )


def _key(event: Event, earlier: dict[str, int]) -> tuple[int, bool, bool, int]:
    """Stage, then plain before weak and first-hand before relayed, then order of appearance."""
    assert event.signature is not None
    stage = event.stage
    if stage is CrashStage.STOPPED and event.line > earlier.get(event.file, event.line):
        # Stopped after it had failed already: whoever stopped it only cleaned up.
        stage = CrashStage.CATEGORY
    return (int(stage), event.signature.weak, event.relayed, event.order)


def _first_sign_of_failure(events: Sequence[Event]) -> dict[str, int]:
    """File -> line of its first wrapper or timeout, other than those that any end brings."""
    first: dict[str, int] = {}
    for event in events:
        if event.handled or event.role not in (LineRole.HANG, LineRole.WRAPPER):
            continue
        if event.signature is not None and EndSign.ANY not in event.signature.end:
            first.setdefault(event.file, event.line)
    return first
