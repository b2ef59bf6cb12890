"""From events to the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stackfix.diagnose.diagnosis import Confidence, Diagnosis, Event, Step
from stackfix.diagnose.events import LogReading
from stackfix.diagnose.facts import RunFacts
from stackfix.diagnose.hang import Hang, read_hang
from stackfix.diagnose.ordering import causes_in_order, choose_signatures, mark_survived
from stackfix.diagnose.particulars import read_allocation, with_particulars
from stackfix.diagnose.ranks import assign_ranks
from stackfix.diagnose.unknown import differing_versions, nothing_found
from stackfix_knowledge.cards.gpus import GpuTable
from stackfix_knowledge.logs.signatures import CrashStage, LineRole, signature_table

__all__ = ["answer"]

_LINES = 3
"""Lines of the cause that are shown: a fault on every rank repeats itself."""
_SHOWN = 20
"""Wrappers and collaterals that are listed."""


def answer(readings: Sequence[LogReading], facts: RunFacts, gpus: GpuTable) -> Diagnosis:
    """The diagnosis of logs that were read."""
    events = [event for reading in readings for event in reading.events]
    assign_ranks(events, facts)
    choose_signatures(events, facts, gpus)
    mark_survived(events, readings)
    events = [event for event in events if event.signature is not None]
    causes = causes_in_order(events)
    hang = read_hang([event for event in events if not event.handled], facts)
    if causes and not (hang and _is_later(causes[0], hang)):
        found = _of_cause(causes, events)
    elif hang:
        found = _of_hang(hang)
    else:
        found = nothing_found(events, readings, facts)
    return with_particulars(_completed(found, readings, events, causes, facts))


def _is_later(cause: Event, hang: Hang) -> bool:
    """Whether a hang explains the likeliest cause, rather than the other way round.

    An interruption or a lost connection after the timeouts only ended the wait.
    """
    return (
        cause.stage is CrashStage.CATEGORY
        or cause.stage is CrashStage.NETWORK
        or (
            cause.stage is CrashStage.STOPPED
            and any(
                wait.event.file == cause.file and wait.event.line < cause.line
                for wait in hang.waits
            )
        )
    )


def _of_cause(causes: Sequence[Event], events: Sequence[Event]) -> Diagnosis:
    table = signature_table()
    first = _earliest_of_its_kind(causes)
    assert first.signature is not None
    assert first.family is not None
    name = first.family
    why = [_why_it_comes_first(first)]
    if name == "oom_capacity":
        allocation = read_allocation(first.text)
        name = "oom_fragmentation" if allocation.is_fragmented else name
        why.append(allocation.sentence)
    family = table.family(name)
    same = [e for e in causes if e is not first and e.family == first.family]
    lines = [
        first,
        *(
            e
            for e in same
            if e.signature is first.signature
            and e.rank == first.rank
            and e.relayed == first.relayed
        ),
    ]
    if first.signature.safety:
        why.append(first.signature.safety)
    return Diagnosis(
        family=family,
        confidence=_confidence(first, events),
        why=" ".join(why),
        cause=tuple(lines[:_LINES]),
        rank=first.rank,
        ranks=tuple(sorted({e.rank for e in (first, *same) if e.rank is not None})),
        remedies=family.remedies,
        verify=family.verify,
        unknown=family.unknown,
        evidence=first.signature.evidence,
    )


def _earliest_of_its_kind(causes: Sequence[Event]) -> Event:
    """Of the likeliest causes that are equally good and of one host the earliest."""
    best = causes[0]
    for other in causes[1:]:
        if other.stage is not best.stage or other.signature != best.signature:
            continue
        if other.relayed != best.relayed or other.file == best.file:
            continue
        same_host = other.host is not None and other.host == best.host
        if same_host and None not in (other.time, best.time):
            assert other.time is not None
            assert best.time is not None
            if other.time < best.time:
                best = other
    return best


def _why_it_comes_first(event: Event) -> str:
    what = {
        CrashStage.HARDWARE: "A fault of the hardware comes before all that it brings about.",
        CrashStage.HOST: "The operating system's own report comes before errors of libraries.",
        CrashStage.DRIVER: "The driver refuses before any program can run.",
        CrashStage.STACK: "This is the most specific local fault in the logs.",
        CrashStage.KERNEL: "A fault inside one GPU comes before errors of communication.",
        CrashStage.CONFIG: "This check fails before anything is communicated.",
        CrashStage.EXCEPTION: "One rank's own exception comes before the errors of its peers.",
        CrashStage.PROCESS: "This process crashed by itself; the others lost their peer.",
        CrashStage.STOPPED: "The run was stopped from outside before it showed another fault.",
        CrashStage.LINK: "No local fault is in the logs; this link fails first.",
        CrashStage.KILLED: "Nothing else in the logs tells why this process was ended.",
        CrashStage.RENDEZVOUS: "The group was never complete.",
        CrashStage.NETWORK: "A connection broke while the ranks were being connected.",
        CrashStage.WAIT: "A wait ran out of time.",
        CrashStage.CATEGORY: "Only a category of fault is named.",
    }
    return what[event.stage]


def _confidence(event: Event, events: Sequence[Event]) -> Confidence:
    assert event.signature is not None
    if event.signature.weak:
        return Confidence.LOW if event.stage >= CrashStage.KILLED else Confidence.MEDIUM
    if event.relayed or event.stage in (CrashStage.EXCEPTION, CrashStage.LINK, CrashStage.NETWORK):
        return Confidence.MEDIUM
    return Confidence.HIGH


def _of_hang(hang: Hang) -> Diagnosis:
    family = signature_table().family(hang.family)
    first = hang.waits[0].event
    cause: tuple[Event, ...] = ()
    rank = None
    why = f"No local fault is in the logs: {hang.why}."
    if hang.odd is not None:
        others = [w.event for w in hang.waits if w is not hang.odd][:1]
        cause = (hang.odd.event, *others)
        rank = hang.odd.rank
    elif hang.absent:
        rank = hang.absent[0]
        names = ", ".join(map(str, hang.absent[:8]))
        why = f"Ranks without a timeout of their own: {names}; {hang.why}."
    if hang.suspended:
        why += " The wait lasted far longer than its limit: the machine was suspended or stalled."
    return Diagnosis(
        family=family,
        confidence=Confidence.MEDIUM if hang.family != "hang_collective" else Confidence.LOW,
        why=why,
        cause=cause,
        rank=rank,
        ranks=hang.absent,
        remedies=family.remedies,
        verify=family.verify,
        unknown=family.unknown,
        evidence=first.signature.evidence if first.signature else (),
    )


def _completed(
    found: Diagnosis,
    readings: Sequence[LogReading],
    events: Sequence[Event],
    causes: Sequence[Event],
    facts: RunFacts,
) -> Diagnosis:
    """The diagnosis with what does not depend on its family."""
    shown = set(map(id, found.cause))
    rest = [event for event in events if id(event) not in shown]
    notes = [f"{r.name} could not be read to its end: {r.broken}" for r in readings if r.broken]
    return replace(
        found,
        wrappers=_of_role(rest, LineRole.WRAPPER),
        collateral=_of_role(rest, LineRole.COLLATERAL),
        others=tuple(e for e in causes if id(e) not in shown and e.family != found.family.name)[:5],
        timeline=_timeline(events),
        versions={name: next(iter(known)) for name, known in facts.versions.items()},
        differing=differing_versions(facts),
        cards=tuple(facts.cards)[:8],
        notes=(*found.notes, *notes),
        files=len(readings),
        lines=sum(reading.lines for reading in readings),
    )


def _of_role(events: Sequence[Event], role: LineRole) -> tuple[Event, ...]:
    """Events of a role, one for each text, without the lines that only open a traceback."""
    found: dict[str, Event] = {}
    for event in events:
        if event.role is role and event.signature and event.signature.id != "traceback":
            found.setdefault(event.body, event)
    return tuple(found.values())[:_SHOWN]


def _timeline(events: Sequence[Event]) -> tuple[Step, ...]:
    """The first failure of each rank, in order of time where all have one."""
    first: dict[int | None, Event] = {}
    for event in events:
        if event.role in (LineRole.BENIGN, LineRole.ADVICE) or event.handled:
            continue
        if event.signature and event.signature.id == "traceback":
            continue
        first.setdefault(event.rank, event)
    steps = list(first.items())
    if all(event.time is not None for _, event in steps):
        steps.sort(key=lambda step: (step[1].time or 0.0, step[1].order))
    return tuple(Step(rank=rank, event=event) for rank, event in steps[:64])
