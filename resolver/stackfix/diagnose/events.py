"""One log read into events and facts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import IO

from stackfix.diagnose.diagnosis import Event
from stackfix.diagnose.facts import (
    FACT_PATTERNS,
    FactReader,
    LogEnding,
    RunFacts,
    ending_of,
)
from stackfix.diagnose.message import (
    Prefix,
    is_quoted,
    json_record,
    line_text,
    split_prefix,
)
from stackfix.diagnose.scan import (
    Finder,
    LogLine,
    Scan,
    finder,
)
from stackfix_knowledge.logs.signatures import CrashStage, LineRole, Signature, signature_table

__all__ = ["LogReading", "read_log"]

_TRACEBACK_REACH = 500
"""Lines behind "Traceback" within which its exception must come."""
_HANDLED = re.compile(
    r"\b(?:caught|handled|retry(?:ing)?|retried|recover(?:ed|ing)?|ignor(?:ed|ing)|skipp(?:ed|ing)"
    r"|fall(?:ing|s)? back|fallback|will continue|continuing|reduc(?:ed|ing) batch)\b",
    re.IGNORECASE,
)
_BELOW_ERROR = "DINTSVW"
"""Levels below error: debug, info, notice, trace, success, verbose, warning."""
_OF_NO_EFFECT = re.compile(r"Exception ignored (?:in|on)|--- Logging error ---")
"""What stands before a traceback that ends nothing."""
_RELAY = re.compile(r"terminated with exception: \[|^\s*what\(\):|\bwhat\(\): ")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReading:
    """What one log holds."""

    name: str
    events: tuple[Event, ...]
    ending: LogEnding
    lines: int
    broken: str | None


@dataclass(frozen=True, slots=True)
class _Index:
    finder: Finder
    by_pattern: tuple[tuple[Signature, ...], ...]
    """Of each pattern of the finder the signatures to try; none for those of facts."""
    position: dict[str, int]


@cache
def _index() -> _Index:
    table = signature_table()
    anchors: dict[str, list[Signature]] = {}
    for anchor, signature in table.anchors():
        anchors.setdefault(anchor, []).append(signature)
    patterns = [re.escape(anchor) for anchor in anchors]
    by_pattern = [tuple(signatures) for signatures in anchors.values()]
    return _Index(
        finder((*patterns, *FACT_PATTERNS)),
        (*by_pattern, *((),) * len(FACT_PATTERNS)),
        {signature.id: number for number, signature in enumerate(table.signatures)},
    )


def read_log(stream: IO[bytes], name: str, facts: RunFacts, *, first: int = 0) -> LogReading:
    """Read a log to its end. `first`: the order of its first event."""
    scan = Scan(_index().finder)
    collector = _Collector(name, facts, first)
    for line in scan.lines(stream):
        collector.take(line)
    ending = ending_of(scan.head, scan.tail)
    for rank in ending.ranks:
        facts.add_rank(rank)
    facts.add_rank(_rank_of_name(name))
    return LogReading(
        name=name,
        events=tuple(collector.events),
        ending=ending,
        lines=scan.count,
        broken=scan.broken,
    )


def _rank_of_name(name: str) -> int | None:
    match = re.search(r"rank[_.-]?(\d{1,5})(?!\d)", name)
    return int(match[1]) if match else None


def _named_rank(signature: Signature, body: str) -> int | None:
    """The rank that the message says is at fault, which need not be the one that wrote it."""
    match = signature.match(body) if signature.role is LineRole.CAUSE else None
    rank = match.groupdict().get("rank") if match else None
    return int(rank) if rank else None


class _Collector:
    """Turns the lines of one log into events."""

    def __init__(self, name: str, facts: RunFacts, first: int) -> None:
        self.events: list[Event] = []
        self._name = name
        self._facts = facts
        self._reader = FactReader(facts, name)
        self._first = first
        self._tracebacks: dict[str, int] = {}
        self._warnings: dict[tuple[str | None, str | None], Event] = {}

    def take(self, line: LogLine) -> None:
        index = _index()
        signatures = {
            signature.id: signature
            for pattern in line.patterns
            for signature in index.by_pattern[pattern]
        }
        text = line_text(line.text)
        prefix = split_prefix(text)
        record = json_record(text) or json_record(prefix.body)
        if record is None:
            self._message(text, prefix, text, line, signatures.values())
        else:
            for message in record.text.split("\n"):
                prefix = record.complete(split_prefix(message))
                self._message(message, prefix, text, line, signatures.values())

    def _message(
        self,
        message: str,
        prefix: Prefix,
        text: str,
        line: LogLine,
        signatures: Iterable[Signature],
    ) -> None:
        """Take in what a line says; `text` is the whole line, `message` a logger's part of it."""
        if trail := self._reader.read(message, prefix, line.number):
            self._follow(prefix, trail)
        matching = [
            signature for signature in signatures if self._matches(signature, prefix, message)
        ]
        if candidates := self._select(matching, prefix, line):
            event = self._event(candidates, prefix, text, line)
            self.events.append(event)
            if "NCCL WARN" in prefix.body:
                self._warnings[prefix.host, prefix.thread] = event

    def _event(
        self, candidates: tuple[Signature, ...], prefix: Prefix, text: str, line: LogLine
    ) -> Event:
        named = _named_rank(candidates[0], prefix.body)
        rank = prefix.rank if named is None else named
        self._facts.add_rank(rank)
        previous = line_text(line.previous)
        return Event(
            file=self._name,
            line=line.number,
            text=text,
            body=prefix.body,
            order=self._first + len(self.events),
            candidates=candidates,
            rank=rank,
            task=prefix.task,
            host=prefix.host,
            pid=prefix.pid,
            thread=prefix.thread,
            device=prefix.device,
            time=prefix.time,
            relayed=previous.endswith("Last error:") or bool(_RELAY.search(text)),
            handled=self._is_handled(prefix),
        )

    @staticmethod
    def _is_handled(prefix: Prefix) -> bool:
        """Whether the program says in the same line that it caught the error."""
        quiet = prefix.level is not None and prefix.level in _BELOW_ERROR
        return quiet and bool(_HANDLED.search(prefix.body[:400]))

    @staticmethod
    def _matches(signature: Signature, prefix: Prefix, text: str) -> bool:
        match = signature.match(prefix.body)
        if match is not None:
            return not is_quoted(prefix.body, match.start(), match.end())
        if len(prefix.body) == len(text):
            return False
        match = signature.match(text)
        return match is not None and not is_quoted(text, match.start(), match.end())

    def _select(
        self, matching: list[Signature], prefix: Prefix, line: LogLine
    ) -> tuple[Signature, ...]:
        """What the line may be, best first."""
        index = _index()
        stream = self._stream(prefix)
        for signature in matching:
            if signature.role in (LineRole.BENIGN, LineRole.ADVICE):
                return (signature,)
        if any(signature.id == "traceback" for signature in matching):
            if _OF_NO_EFFECT.search(line_text(line.previous)):
                self._tracebacks.pop(stream, None)
                return ()
            self._tracebacks[stream] = line.number
        others = [s for s in matching if s.role is not LineRole.CAUSE]
        causes = [
            s for s in matching if s.role is LineRole.CAUSE and s.stage is not CrashStage.EXCEPTION
        ]
        if not causes and not others and self._in_traceback(stream, line):
            causes = [s for s in matching if s.stage is CrashStage.EXCEPTION]
        causes.sort(key=lambda s: (s.when is None, s.weak, s.stage, index.position[s.id]))
        others.sort(key=lambda s: (_ROLE_ORDER[s.role], index.position[s.id]))
        return (*causes, *others)

    @staticmethod
    def _stream(prefix: Prefix) -> str:
        for value in (prefix.rank, prefix.pid, prefix.actor, prefix.task):
            if value is not None:
                return str(value)
        return ""

    def _in_traceback(self, stream: str, line: LogLine) -> bool:
        """Whether an exception's line ends a traceback, which a merely logged one does not."""
        if line_text(line.text).startswith("E   "):
            return True
        opened = self._tracebacks.get(stream)
        return opened is not None and 0 < line.number - opened <= _TRACEBACK_REACH

    def _follow(self, prefix: Prefix, trail: str) -> None:
        event = self._warnings.get((prefix.host, prefix.thread))
        if event is not None and len(event.trail) < 40:
            event.trail.append(trail)


_ROLE_ORDER = {
    LineRole.HANG: 0,
    LineRole.COLLATERAL: 1,
    LineRole.WRAPPER: 2,
    LineRole.BENIGN: 3,
    LineRole.ADVICE: 3,
    LineRole.CAUSE: 4,
}
