"""Which rank wrote an event."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from stackfix.diagnose.diagnosis import Event
from stackfix.diagnose.facts import RunFacts

__all__ = ["assign_ranks"]

_FILE_RANK = re.compile(r"(?:^|[/_.-])rank[_.-]?(\d{1,5})(?!\d)")
_SUMMARY_PID = re.compile(r"\bPID (\d+)|\(pid: (\d+)\)")
_LOCAL_RANK = re.compile(r"\blocal_rank: (\d+) \(pid")


def assign_ranks(events: Sequence[Event], facts: RunFacts) -> None:
    """Fill in `Event.rank` where the line itself does not name it.

    From the surest to the weakest: NCCL's own set-up lines of that process, the launcher's
    summary, the log's name, a launcher's task number, the one rank of that log, a wrapper with a
    rank that repeats the same words, and the number of the card.
    """
    by_file = _ranks_by_file(events, facts)
    repeats = _repeats(events)
    for event in events:
        if event.rank is not None:
            continue
        event.rank = _known(event, facts)
        if event.rank is None:
            event.rank = _guess(event, facts, by_file.get(event.file, set()), repeats)


def _known(event: Event, facts: RunFacts) -> int | None:
    if event.host and event.pid:
        rank = facts.process_ranks.get((event.host, event.pid))
        if rank is not None:
            return rank
    if match := _SUMMARY_PID.search(event.body):
        pid = match[1] or match[2]
        if pid and pid in facts.local_pids:
            return facts.local_pids[pid]
        if pid and (ranks := {r for (_, p), r in facts.process_ranks.items() if p == pid}):
            return min(ranks)
    if event.device is not None:
        ranks = facts.device_ranks.get((event.host or "", event.device), set())
        if len(ranks) == 1:
            return next(iter(ranks))
    return None


def _guess(
    event: Event, facts: RunFacts, of_file: set[int], repeats: dict[str, Counter[int]]
) -> int | None:
    if match := _FILE_RANK.search(event.file):
        return int(match[1])
    if event.task is not None:
        return event.task
    if match := _LOCAL_RANK.search(event.body):
        return int(match[1])
    if words := _words(event.body):
        ranks = repeats.get(words)
        if ranks and len(ranks) == 1:
            return next(iter(ranks))
    if len(of_file) == 1:
        return next(iter(of_file))
    return _by_card(event, facts)


def _by_card(event: Event, facts: RunFacts) -> int | None:
    """From the number of the card: as the host's other ranks lie, else as on a single host."""
    if event.device is None:
        return None
    host = event.host or ""
    if ranks := facts.device_ranks.get((host, event.device)):
        return min(ranks)
    apart = {
        min(ranks) - device for (name, device), ranks in facts.device_ranks.items() if name == host
    }
    return event.device + apart.pop() if len(apart) == 1 else event.device


def _ranks_by_file(events: Iterable[Event], facts: RunFacts) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {file: set(ranks) for file, ranks in facts.file_ranks.items()}
    for event in events:
        rank = event.rank if event.rank is not None else _known(event, facts)
        if rank is not None:
            found.setdefault(event.file, set()).add(rank)
    return found


def _repeats(events: Iterable[Event]) -> dict[str, Counter[int]]:
    """Words of a message -> ranks whose lines repeat it."""
    found: dict[str, Counter[int]] = {}
    for event in events:
        if event.rank is not None and (words := _words(event.body)):
            found.setdefault(words, Counter())[event.rank] += 1
    return found


def _words(body: str) -> str:
    """The message without what stands before it in NCCL's or an exception's form."""
    body = body.rpartition("NCCL WARN ")[2]
    body = re.sub(r"^(?:[\w.]+(?:Error|Exception): )+", "", body)
    body = re.sub(r"^.*terminated with exception: ", "", body)
    return body.strip() if len(body.strip()) > 12 else ""
