"""What the driver's Xids mean: `facts/xids.toml`.

An Xid is a number in the kernel log by which the driver reports something about a card.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from stackfix_knowledge.evidence import Evidence, FactSeverity
from stackfix_knowledge.reader import Entry, FactsError, read_facts

__all__ = ["Xid", "XidKind", "parse_xids", "xid_in", "xid_of", "xids"]

_LINE = re.compile(r"NVRM: Xid \([^)]*\): (\d{1,4})\b")


class XidKind(StrEnum):
    """Where what it reports lies."""

    PROGRAM = "program"
    """In a program; the card is sound."""
    MEMORY = "memory"
    LINK = "link"
    BUS = "bus"
    FIRMWARE = "firmware"
    POWER = "power"
    NOTICE = "notice"


class Xid(NamedTuple):
    """One kind of report."""

    numbers: tuple[int, ...]
    name: str
    kind: XidKind
    severity: FactSeverity
    """ERROR: no work for the card before the action; INFO: no sign of a fault of the card."""
    meaning: str
    action: str
    bucket: str | None
    """The vendor's immediate action, as its catalog writes it."""
    evidence: tuple[Evidence, ...]


def xid_of(number: int) -> Xid | None:
    """What a number means; None for one that nobody documented."""
    return xids().get(number)


def xid_in(line: str) -> int | None:
    """The number of the Xid that a line of the kernel log reports."""
    found = _LINE.search(line)
    return int(found[1]) if found else None


@cache
def xids() -> Mapping[int, Xid]:
    """All, by number. Raises FactsError if the file cannot be used."""
    return parse_xids(read_facts("xids.toml"))


def parse_xids(file: Entry) -> dict[int, Xid]:
    """Read a file of Xids."""
    file.only("sources", "xid")
    sources = file.sources()
    found: dict[int, Xid] = {}
    for entry in file.entries("xid"):
        entry.only("numbers", "name", "kind", "severity", "meaning", "action", "bucket", "source")
        xid = Xid(
            numbers=_numbers(entry),
            name=entry.text("name"),
            kind=entry.choice("kind", XidKind),
            severity=entry.choice("severity", FactSeverity),
            meaning=entry.text("meaning"),
            action=entry.text("action"),
            bucket=entry.optional_text("bucket"),
            evidence=entry.evidence(sources),
        )
        for number in xid.numbers:
            if number in found:
                raise entry.fault("numbers", f"numbers that stand once; {number} stands twice")
            found[number] = xid
    return found


def _numbers(entry: Entry) -> tuple[int, ...]:
    value = entry.data.get("numbers")
    wrong: FactsError = entry.fault("numbers", "a list of whole numbers from 1")
    if not isinstance(value, list) or not value:
        raise wrong
    if not all(type(number) is int and number > 0 for number in value):
        raise wrong
    return tuple(value)
