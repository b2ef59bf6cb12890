"""PyTorch's out of memory sentence, its five numbers and what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Allocation", "read_allocation"]

_UNITS = {
    "bytes": 1,
    "B": 1,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "TiB": 1 << 40,
    "KB": 1 << 10,
    "MB": 1 << 20,
    "GB": 1 << 30,
}
_AMOUNT = r"(\d+(?:\.\d+)?) (bytes|B|[KMGT]i?B)"
_FIELDS = {
    "wanted": (rf"Tried to allocate {_AMOUNT}",),
    "total": (rf"total capacity of {_AMOUNT}", rf"{_AMOUNT} total capacity"),
    "free": (rf"of which {_AMOUNT} is free", rf"{_AMOUNT} free[;)]"),
    "allocated": (rf"{_AMOUNT} is allocated by PyTorch", rf"{_AMOUNT} already allocated"),
    "unallocated": (rf"{_AMOUNT} is reserved by PyTorch but unallocated",),
    "reserved": (rf"{_AMOUNT} reserved in total by PyTorch",),
    "process": (rf"this process has {_AMOUNT} memory in use",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """All in bytes; None: the sentence does not have it."""

    wanted: int | None
    total: int | None
    free: int | None
    allocated: int | None
    unallocated: int | None
    """Reserved by PyTorch, but not in use."""

    @property
    def is_fragmented(self) -> bool:
        """Whether free and unused memory together would hold the request."""
        if self.wanted is None or not self.unallocated:
            return False
        return (self.free or 0) + self.unallocated >= self.wanted > (self.free or 0)


def read_allocation(text: str) -> Allocation:
    """The numbers of the sentence, in its present form and the one before torch 2.1."""
    found = {name: _amount(text, patterns) for name, patterns in _FIELDS.items()}
    unallocated = found["unallocated"]
    if unallocated is None and found["reserved"] is not None and found["allocated"] is not None:
        unallocated = max(0, found["reserved"] - found["allocated"])
    return Allocation(
        wanted=found["wanted"],
        total=found["total"],
        free=found["free"],
        allocated=found["allocated"],
        unallocated=unallocated,
    )


def _amount(text: str, patterns: tuple[str, ...]) -> int | None:
    for pattern in patterns:
        if match := re.search(pattern, text):
            return int(float(match[1]) * _UNITS[match[2]])
    return None
