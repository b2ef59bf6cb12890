"""Finding many texts at once in large pieces of a log.

The engine is hyperscan, which looks for all of them in one pass at the speed of memory. Where it
is not installed, a slow search in plain Python gives the same answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

__all__ = ["Finder", "Hits", "PlainFinder", "finder"]

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
