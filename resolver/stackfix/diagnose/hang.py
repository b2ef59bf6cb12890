"""Reading a hang: which ranks waited in which collective, and which did not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from stackfix.diagnose.diagnosis import Event
from stackfix.diagnose.facts import RunFacts
from stackfix_knowledge.logs.signatures import LineRole

__all__ = ["Hang", "Wait", "read_hang"]

_WORK = re.compile(
    r"WorkNCCL\(SeqNum=(?P<seq>\d+), OpType=(?P<op>\w+)"
    r"(?:, NumelIn=(?P<into>\d+), NumelOut=(?P<out>\d+))?, Timeout\(ms\)=(?P<limit>\d+)\)"
    r"(?: ran for (?P<ran>\d+) milliseconds)?"
)
_STATE = re.compile(r"last enqueued (?:NCCL )?work: (\d+)")
_POINT_TO_POINT = {"SEND", "RECV", "RECVANYSOURCE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One rank's first timeout."""

    rank: int | None
    event: Event
    sequence: int | None = None
    operation: str | None = None
    elements: tuple[int, int] | None = None
    """Numbers of elements in and out."""
    limit: int | None = None
    """Milliseconds allowed."""
    ran: int | None = None
    """Milliseconds that it ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """What the timeouts of a log say together."""

    family: str
    waits: tuple[Wait, ...]
    absent: tuple[int, ...] = ()
    """Ranks that should have waited too and did not."""
    odd: Wait | None = None
    """The wait whose operation differs from the others', or that nobody shares."""
    why: str = ""

    @property
    def suspended(self) -> bool:
        """It ran for much longer than allowed: the machine was suspended, or its clock jumped."""
        return any(w.ran and w.limit and w.ran > 3 * w.limit for w in self.waits)


def read_hang(events: Sequence[Event], facts: RunFacts) -> Hang | None:
    """The hang behind the timeouts; None if there are none."""
    first: dict[int | None, Wait] = {}
    timeouts = [event for event in events if event.role is LineRole.HANG]
    for event in timeouts:
        wait = _wait(event)
        known = first.get(event.rank)
        if known is None or (known.sequence is None and wait.sequence is not None):
            first[event.rank] = wait
    if not first:
        return None
    waits = tuple(sorted(first.values(), key=lambda wait: wait.event.order))
    compared = [w for w in waits if w.rank is not None and w.operation not in _POINT_TO_POINT]
    if odd := _odd(compared):
        return Hang(
            family="collective_desync",
            waits=waits,
            odd=odd,
            why="ranks wait in different operations under one sequence number",
        )
    return _absent(waits, events, facts)


def _odd(waits: Sequence[Wait]) -> Wait | None:
    """The wait that differs from the majority at the same sequence number."""
    by_sequence: dict[int, list[Wait]] = {}
    for wait in waits:
        if wait.sequence is not None:
            by_sequence.setdefault(wait.sequence, []).append(wait)
    for same in by_sequence.values():
        kinds = Counter((wait.operation, wait.elements) for wait in same)
        if len(same) > 1 and len(kinds) > 1:
            rare = min(kinds.values())
            return next(w for w in same if kinds[(w.operation, w.elements)] == rare)
    return None


def _absent(waits: tuple[Wait, ...], events: Sequence[Event], facts: RunFacts) -> Hang:
    reporting = {wait.rank for wait in waits if wait.rank is not None}
    known = set(facts.seen) | {event.rank for event in events if event.rank is not None}
    world = facts.world or 0
    if world and world <= 4096:
        known |= set(range(world))
    behind = _behind(waits, events)
    absent = tuple(sorted((known - reporting) | behind))
    if reporting and absent and len(absent) < len(reporting):
        return Hang(
            family="hang_rank_absent",
            waits=waits,
            absent=absent,
            why="the other ranks wait for it" if len(absent) == 1 else "the others wait for them",
        )
    if len(reporting) == 1 and len(known - reporting) > 0 and not _is_first_cut(waits):
        return Hang(
            family="collective_desync",
            waits=waits,
            odd=waits[0],
            why="one rank waits alone in a collective that no other rank posts",
        )
    return Hang(
        family="hang_collective", waits=waits, why="the ranks that report are in one operation"
    )


def _behind(waits: Sequence[Wait], events: Sequence[Event]) -> set[int]:
    """Ranks whose last enqueued work lies before the one that most ranks wait in."""
    sequences = Counter(wait.sequence for wait in waits if wait.sequence is not None)
    if not sequences:
        return set()
    common, votes = sequences.most_common(1)[0]
    if votes < 2:
        return set()
    found = set()
    for event in events:
        match = _STATE.search(event.body)
        if match and event.rank is not None and int(match[1]) < common:
            found.add(event.rank)
    return found if len(found) < votes else set()


def _is_first_cut(waits: Sequence[Wait]) -> bool:
    """Old releases name no rank set: one line of one rank says nothing about the others."""
    return all(wait.elements is None and wait.operation is not None for wait in waits)


def _wait(event: Event) -> Wait:
    match = _WORK.search(event.body)
    if match is None:
        return Wait(rank=event.rank, event=event)
    return Wait(
        rank=event.rank,
        event=event,
        sequence=int(match["seq"]),
        operation=match["op"],
        elements=(int(match["into"]), int(match["out"])) if match["into"] else None,
        limit=int(match["limit"]),
        ran=int(match["ran"]) if match["ran"] else None,
    )
