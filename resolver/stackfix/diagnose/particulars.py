"""The particulars of a case: what its line names, and the numbers of a failed allocation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from stackfix.diagnose.diagnosis import Diagnosis, Event
from stackfix_knowledge.logs.signatures import Particulars, Remedy
from stackfix_knowledge.logs.xids import xid_in, xid_of

__all__ = ["Allocation", "read_allocation", "with_particulars"]

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
}


def with_particulars(diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis, its first remedy naming what its cause names."""
    particulars = diagnosis.family.particulars
    if particulars is None or not diagnosis.remedies:
        return diagnosis
    event = diagnosis.cause[0] if diagnosis.cause else None
    sentence = _SENTENCES[particulars](diagnosis, event)
    if sentence is None:
        return diagnosis
    first, *rest = diagnosis.remedies
    first = Remedy(kind=first.kind, text=f"{sentence} {first.text}", command=first.command)
    return replace(diagnosis, remedies=(first, *rest))


def _who(diagnosis: Diagnosis, event: Event | None) -> str:
    rank = f"rank {diagnosis.rank}" if diagnosis.rank is not None else "this process"
    host = f" on {event.host}" if event and event.host else ""
    return f"{rank}{host}"


def _process(diagnosis: Diagnosis, event: Event | None) -> str | None:
    where = f", {event.where}" if event else ""
    return f"Start with {_who(diagnosis, event)}{where}."


def _card(diagnosis: Diagnosis, event: Event | None) -> str | None:
    start = _process(diagnosis, event)
    xid = _xid(diagnosis, event)
    return f"{start} {xid}" if xid else start


def _xid(diagnosis: Diagnosis, event: Event | None) -> str | None:
    number = xid_in(event.text) if event else None
    xid = xid_of(number) if number is not None else None
    return f"Xid {number}, {xid.name}: {xid.meaning}" if xid else None


def _exception(diagnosis: Diagnosis, event: Event | None) -> str | None:
    if event is None:
        return None
    return f"Raised by {_who(diagnosis, event)}: {event.body.strip()[:200]}."


def _absent_clients(diagnosis: Diagnosis, event: Event | None) -> str | None:
    match = event and re.search(r"(\d+)/(\d+) clients joined", event.body)
    if match:
        missing = int(match[2]) - int(match[1])
        return f"{match[1]} of {match[2]} joined: {missing} missing; look for it on each node."
    match = event and re.search(r"world_size=(\d+), worker_count=(\d+)", event.body)
    if match:
        missing = int(match[1]) - int(match[2])
        return f"{match[2]} of {match[1]} joined: {missing} missing."
    return None


def _missing_library(diagnosis: Diagnosis, event: Event | None) -> str | None:
    match = event and re.search(r"\blib[\w+-]+\.so[\w.]*", event.text)
    return f"Missing: {match[0]}." if match else None


def _missing_symbol(diagnosis: Diagnosis, event: Event | None) -> str | None:
    match = event and re.search(r"([\w.+-]+\.so)\S*: undefined symbol: (\S+)", event.text)
    if not match:
        return None
    name = re.sub(r"(?:\.cpython.*|\.abi3)?\.so$", "", match[1])
    return f"{name} lacks {match[2].rstrip(',')[:80]}."


def _absent_ranks(diagnosis: Diagnosis, event: Event | None) -> str | None:
    if not diagnosis.ranks:
        return None
    return f"Absent: rank {', '.join(map(str, diagnosis.ranks[:8]))}."


def _missing_code(diagnosis: Diagnosis, event: Event | None) -> str | None:
    match = event and re.search(
        r"CUDA capability (sm_\d+)|'(sm_\w+)'|\b(sm_?\d{2,3}\w?)\b", event.text
    )
    wanted = next((group for group in match.groups() if group), None) if match else None
    cards = f" (cards in the log: {', '.join(diagnosis.cards[:3])})" if diagnosis.cards else ""
    if wanted is None and not cards:
        return None
    return f"Concerns {wanted or 'this card'}{cards}."


def _address(diagnosis: Diagnosis, event: Event | None) -> str | None:
    match = event and re.search(r"(?:to|from|peer) (\S+?)(?:<\d+>)?(?=\s|$)", event.body)
    port = event and re.search(r"\b(mlx\d+_\d+:\d+)", event.body)
    if port:
        return f"The port is {port[1]} of {_who(diagnosis, event)}."
    return f"{_who(diagnosis, event)} did not reach {match[1]}." if match else None


def _batch(diagnosis: Diagnosis, event: Event | None) -> str | None:
    match = event and re.search(r"(\d+) != (\d+) \* (\d+) \* (\d+)", event.body)
    if not match:
        return None
    wanted, micro, steps, world = map(int, match.groups())
    return (
        f"{wanted} is not {micro} × {steps} × {world}: world size {world} was seen,"
        f" so the batch must be a multiple of {micro * world}."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """PyTorch's sentence of an allocation that failed. All in bytes; None: it does not say."""

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

    @property
    def sentence(self) -> str:
        """Whether memory was short or in pieces, and the numbers that say so."""
        if self.wanted is None:
            return "The sentence has no numbers."
        numbers = (
            f"wanted {_gib(self.wanted)}, free {_gib(self.free)},"
            f" reserved but unused {_gib(self.unallocated)}, in use {_gib(self.allocated)},"
            f" card {_gib(self.total)}"
        )
        if self.is_fragmented:
            return f"Free and unused memory together would do: {numbers}."
        return f"Even with all unused memory given back it does not fit: {numbers}."


def _gib(number: int | None) -> str:
    return "?" if number is None else f"{number / (1 << 30):.2f} GiB"


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


_SENTENCES: Mapping[Particulars, Callable[[Diagnosis, Event | None], str | None]] = {
    Particulars.PROCESS: _process,
    Particulars.CARD: _card,
    Particulars.XID: _xid,
    Particulars.EXCEPTION: _exception,
    Particulars.ABSENT_CLIENTS: _absent_clients,
    Particulars.ABSENT_RANKS: _absent_ranks,
    Particulars.MISSING_LIBRARY: _missing_library,
    Particulars.MISSING_SYMBOL: _missing_symbol,
    Particulars.MISSING_CODE: _missing_code,
    Particulars.ADDRESS: _address,
    Particulars.BATCH: _batch,
}
