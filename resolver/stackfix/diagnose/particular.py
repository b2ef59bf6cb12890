"""Remedies with the names and numbers of the case at hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from stackfix.diagnose.diagnosis import Diagnosis, Event
from stackfix_knowledge.logs.signatures import Particulars, Remedy
from stackfix_knowledge.logs.xids import xid_in, xid_of

__all__ = ["with_particulars"]


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
