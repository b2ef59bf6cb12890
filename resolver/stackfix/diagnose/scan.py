"""From bytes to the few lines that matter, in constant memory.

hyperscan looks for all patterns in one pass at the speed of memory. Where it is not installed, a
slow search in plain Python gives the same answers.
"""

from __future__ import annotations

import lzma
import re
import sys
import zlib
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import IO, Any, Protocol

__all__ = ["Finder", "Hits", "LogLine", "PlainFinder", "Scan", "finder"]

CHUNK = 1 << 20
"""Bytes looked at in one go: they stay in the processor's cache."""
LONGEST = 8 << 10
"""Bytes of a line that are looked at around a hit; of a JSON line more, as it must be whole."""
LONGEST_JSON = 64 << 10
_OVERLAP = 256
"""Bytes that two parts of one endless line share; no anchor is longer."""
_BEFORE = 2048
"""Bytes kept before the first hit of an overlong line."""
_EDGE = 16 << 10
"""Bytes of a log's beginning and end that are kept."""
BUSY = 2000
"""Lines that one pattern may bring up; of further ones only the last are looked at."""
_LATEST = 200
Hits = list[tuple[int, int]]
"""Pairs of (offset behind the match, number of the pattern), ascending."""


class Finder(Protocol):
    """A set of patterns, numbered in the order that they were given."""

    def find(self, data: memoryview) -> Hits:
        """Every place in `data` where a pattern ends."""


def finder(patterns: Sequence[str]) -> Finder:
    """The fastest finder at hand.

    `patterns` are regular expressions without look-around and with bounded repeats only. A match
    that can be longer or shorter is reported at least once, at one of its ends.
    """
    try:
        return _HyperscanFinder(patterns)
    except ImportError:
        return PlainFinder(patterns)


class _HyperscanFinder:
    """All patterns compiled into one automaton."""

    def __init__(self, patterns: Sequence[str]) -> None:
        engine: Any = import_module("hyperscan")
        self._database = engine.Database(mode=engine.HS_MODE_BLOCK)
        self._database.compile(
            expressions=[pattern.encode() for pattern in patterns],
            ids=list(range(len(patterns))),
            flags=[0] * len(patterns),
        )
        self._database.scratch = engine.Scratch(self._database)

    def find(self, data: memoryview) -> Hits:
        hits: Hits = []
        found = hits.append

        def note(number: int, start: int, end: int, flags: int, context: object) -> None:
            found((end, number))

        self._database.scan(data, match_event_handler=note)
        hits.sort()
        return hits


class PlainFinder:
    """The same by Python's own means, some two hundred times slower."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = [re.compile(pattern.encode()) for pattern in patterns]

    def find(self, data: memoryview) -> Hits:
        text = bytes(data)
        return sorted(
            (match.end(), number)
            for number, pattern in enumerate(self._patterns)
            for match in pattern.finditer(text)
        )


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line that a pattern was found in."""

    number: int
    """From 1, lines ending with \\n."""
    text: bytes
    """What a terminal would show: behind the last \\r that was written over; cut if very long."""
    previous: bytes
    """The line before, at most 300 bytes of it; empty if there is none."""
    patterns: frozenset[int]


@dataclass(slots=True)
class Scan:
    """One pass over a log. Iterate over `lines` to the end, then read the other attributes."""

    finder: Finder
    head: bytes = b""
    tail: bytes = b""
    count: int = 0
    """Lines, the last unfinished one included."""
    broken: str | None = None
    """Why the log could not be read to its end."""
    _seen: dict[int, int] = field(default_factory=dict)
    _late: deque[LogLine] = field(default_factory=lambda: deque(maxlen=_LATEST))

    def lines(self, stream: IO[bytes]) -> Iterator[LogLine]:
        """The lines that hold a pattern, in order; of very frequent ones the latest come last."""
        rest = b""
        previous = b""
        skip = 0
        while True:
            data = self._read(stream)
            last = not data
            region = rest + data
            if last:
                end, keep = len(region), len(region)
            else:
                end = region.rfind(b"\n") + 1
                keep = end
                if end == 0 and len(region) > CHUNK:  # one endless line
                    end = len(region)
                    keep = end - _OVERLAP
                elif end == 0:
                    rest = region
                    continue
            yield from self._region(region, end, skip, previous)
            skip = _OVERLAP if keep != end else 0
            if end and keep == end:
                previous = region[max(0, end - 301) : end].rstrip(b"\r\n").rpartition(b"\n")[2]
            rest = region[keep:]
            if last:
                break
        if self.tail and not self.tail.endswith(b"\n"):
            self.count += 1
        yield from self._late

    def _read(self, stream: IO[bytes]) -> bytes:
        try:
            data = stream.read(CHUNK)
        except (EOFError, OSError, zlib.error, lzma.LZMAError, ValueError) as error:
            self.broken = str(error) or "it ends in the middle"
            return b""
        except Exception as error:  # the error of zstd has a class of its own
            if type(error).__name__ != "ZstdError":
                raise
            self.broken = str(error)
            return b""
        if data:
            if len(self.head) < _EDGE:
                self.head += data[: _EDGE - len(self.head)]
            self.tail = data[-_EDGE:] if len(data) >= _EDGE else (self.tail + data)[-_EDGE:]
        return data or b""

    def _region(self, region: bytes, end: int, skip: int, previous: bytes) -> Iterator[LogLine]:
        hits = self.finder.find(memoryview(region)[:end])
        seen = self._seen
        late = len(hits) - _LATEST
        counted = 0
        done = skip
        for index, (at, pattern) in enumerate(hits):
            if at <= done or (index < late and seen.get(pattern, 0) >= BUSY):
                continue
            start = region.rfind(b"\n", 0, at) + 1
            self.count += region.count(b"\n", counted, start)
            counted = start
            line, done = self._line(region, end, hits, index, start, previous)
            if self._is_fresh(line):
                yield line
            else:
                self._late.append(line)
        self.count += region.count(b"\n", counted, end)

    def _line(
        self, region: bytes, end: int, hits: Hits, index: int, start: int, previous: bytes
    ) -> tuple[LogLine, int]:
        """The line, or part of one, around a hit, and where it ends."""
        at = hits[index][0]
        stop = region.find(b"\n", at - 1, end)
        stop = end if stop < 0 else stop
        shown = region.rfind(b"\r", start, at) + 1 or start
        over = region.find(b"\r", at, stop)
        if 0 <= over < stop - 1:
            stop = over
        limit = LONGEST_JSON if region[shown : shown + 1] == b"{" else LONGEST
        if stop - shown > limit:
            if at - shown > _BEFORE and limit == LONGEST:
                shown = at - _BEFORE
            stop = min(stop, max(shown + limit, at))
        patterns: set[int] = set()
        first = bisect_right(hits, (shown, sys.maxsize))
        while first < len(hits) and hits[first][0] <= stop:
            patterns.add(hits[first][1])
            first += 1
        before = previous
        if start:
            before = region[max(0, start - 301) : start - 1].rpartition(b"\n")[2]
        line = LogLine(
            self.count + 1,
            region[shown:stop].rstrip(b"\r"),
            before.rstrip(b"\r")[-300:],
            frozenset(patterns),
        )
        return line, stop

    def _is_fresh(self, line: LogLine) -> bool:
        fresh = False
        for pattern in line.patterns:
            seen = self._seen.get(pattern, 0)
            if seen < BUSY:
                self._seen[pattern] = seen + 1
                fresh = True
        return fresh
