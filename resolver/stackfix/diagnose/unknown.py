"""When no line is the cause: nothing wrong, or not told. Saying so is an answer."""

from __future__ import annotations

from collections.abc import Sequence

from stackfix.diagnose.diagnosis import Confidence, Diagnosis, Event
from stackfix.diagnose.events import LogReading
from stackfix.diagnose.facts import RunFacts
from stackfix_knowledge.logs.signatures import (
    EndSign,
    LineRole,
    Remedy,
    RemedyKind,
    signature_table,
)

__all__ = ["differing_versions", "nothing_found"]

_REST = (
    "The error itself: the log is incomplete. Get the rest of the log, or the full log from the"
    " launcher or the container runtime."
)
_SIGNS = (LineRole.WRAPPER, LineRole.COLLATERAL, LineRole.HANG, LineRole.CAUSE)


def nothing_found(
    events: Sequence[Event], readings: Sequence[LogReading], facts: RunFacts
) -> Diagnosis:
    """The answer where no event can be the cause."""
    if readings and all(reading.ending.empty for reading in readings):
        return _unknown(
            "The log is empty.",
            ("Everything: no log was written. Rerun with stderr in the file and NCCL_DEBUG=INFO.",),
        )
    cut = [reading for reading in readings if reading.ending.cut]
    if cut:
        return _unknown(
            f"{cut[0].name} is truncated: it ends inside a traceback, before the error's own line.",
            (_REST,),
            Remedy(kind=RemedyKind.HOST, text=_REST),
        )
    failures = [e for e in events if e.role in _SIGNS and not e.handled and _tells(e, events)]
    if failures:
        return _only_wrappers(failures, facts)
    return _benign(events, readings)


def _tells(event: Event, events: Sequence[Event]) -> bool:
    """Weak signs of causes, and a traceback alone, show no failure."""
    assert event.signature is not None
    if event.role is LineRole.CAUSE:
        return not event.signature.weak
    return EndSign.CANCELLED not in event.signature.end or any(
        other.role is LineRole.WRAPPER for other in events
    )


def _only_wrappers(failures: Sequence[Event], facts: RunFacts) -> Diagnosis:
    warnings = [event for event in failures if "NCCL WARN" in event.text]
    last = warnings[-1] if warnings else None
    unknown = []
    if last is not None:
        why = f"The last NCCL warning, {last.where}, is one that no signature knows."
        unknown.append(f"What failed there: look up its place in NCCL's source: {_short(last)}")
    else:
        why = "Only wrappers and consequences are in the logs, not what they wrap."
        unknown.append(
            "NCCL's own warning, with its file and line: rerun a few steps with NCCL_DEBUG=INFO"
            " on all ranks and keep the NCCL WARN lines."
        )
    if any("999" in event.text for event in failures):
        unknown.append(
            "Error 999 has no single cause: the source file in the WARN line tells (nvls.cc: the"
            " Fabric Manager; alloc.h under WSL: WSL); look at dmesg for Xid as well."
        )
    unknown.append("What the kernel saw: `dmesg -T | grep -i -e xid -e oom -e segfault` on hosts.")
    differing = [s for s in differing_versions(facts) if s.startswith(("nccl ", "torch "))]
    if differing and warnings == []:
        family = signature_table().family("nccl_rank_mismatch")
        return Diagnosis(
            family=family,
            confidence=Confidence.LOW,
            why=f"Only wrappers are in the logs, but {differing[0]}.",
            cause=(),
            rank=None,
            remedies=family.remedies,
            verify=family.verify,
            unknown=tuple(unknown),
        )
    if facts.world and len({event.rank for event in failures}) < facts.world:
        unknown.append("The logs of the other ranks, where the first failure may stand.")
    return _unknown(why, tuple(unknown))


def _short(event: Event) -> str:
    return event.body[:200]


def _unknown(why: str, unknown: tuple[str, ...], *first: Remedy) -> Diagnosis:
    family = signature_table().family("unknown_cause")
    return Diagnosis(
        family=family,
        confidence=Confidence.HIGH,
        why=why,
        cause=(),
        rank=None,
        remedies=(*first, *family.remedies),
        verify=family.verify,
        unknown=unknown,
    )


def _benign(events: Sequence[Event], readings: Sequence[LogReading]) -> Diagnosis:
    family = signature_table().family("benign")
    handled = [event for event in events if event.handled]
    noted = [event for event in events if event.role is LineRole.BENIGN]
    well = any(reading.ending.well for reading in readings)
    if handled:
        why = f"The program caught the error at {handled[0].where} and went on."
    elif noted:
        why = f"Warnings without effect, such as {noted[0].where}."
    else:
        why = "No line reports a fault."
    why += " The end of the log says that the run came to its end." if well else ""
    unknown = () if well else ("Whether the run ended well: the log's end does not say so.",)
    return Diagnosis(
        family=family,
        confidence=Confidence.HIGH if well else Confidence.LOW,
        why=why,
        cause=(),
        rank=None,
        unknown=unknown,
    )


def differing_versions(facts: RunFacts) -> tuple[str, ...]:
    """Components of which several hosts show several versions."""
    found = []
    for component, versions in facts.by_host.items():
        hosts = {version: sorted(places) for version, places in versions.items()}
        apart = len(hosts) > 1 and len({tuple(places) for places in hosts.values()}) > 1
        if apart and component in ("nccl", "torch", "driver", "cuda-driver", "jax", "jaxlib"):
            parts = "; ".join(f"{version} on {places[0]}" for version, places in hosts.items())
            found.append(f"{component} differs between nodes: {parts}")
    return tuple(found)
