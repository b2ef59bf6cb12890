"""An answer, and the events that it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.logs.signatures import CrashStage, Family, LineRole, Remedy, Signature

__all__ = ["Confidence", "Diagnosis", "Event", "StackMatch", "Step"]


class Confidence(StrEnum):
    """How sure an answer is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The first thing that a rank reports."""

    rank: int | None
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class StackMatch:
    """How the answer and the project's own stack fit together."""

    agrees: bool | None
    """None: the rules have nothing to say about this family."""
    sentence: str
    codes: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    """What the rules say, one sentence each."""
    host: tuple[str, ...] = ()
    """What this host shows that bears on the answer, one sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Which fault started it, as far as the logs tell."""

    family: Family
    confidence: Confidence
    why: str
    """One or two sentences: why this and how sure."""
    cause: tuple[Event, ...]
    """Lines that show it, the first one first; empty if no line is the cause."""
    rank: int | None
    """The initiating rank."""
    ranks: tuple[int, ...] = ()
    """All ranks concerned, where there are several (those that are absent from a collective)."""
    wrappers: tuple[Event, ...] = ()
    collateral: tuple[Event, ...] = ()
    others: tuple[Event, ...] = ()
    """Further faults in the log that are not held to have started it."""
    timeline: tuple[Step, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    differing: tuple[str, ...] = ()
    """Components whose version differs between nodes, one sentence each."""
    cards: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    verify: str | None = None
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """About the logs themselves: cut short, unreadable parts."""
    evidence: tuple[Evidence, ...] = ()
    """Where the signature of the cause comes from."""
    stack_match: StackMatch | None = None
    files: int = 0
    lines: int = 0

    @property
    def found(self) -> bool:
        """Whether a line of the logs is the cause."""
        return bool(self.cause) and self.family.name not in ("benign", "unknown_cause")


@dataclass(slots=True, kw_only=True, eq=False)
class Event:
    """Mutable while the log is read; fixed once it is judged."""

    file: str
    line: int
    text: str
    """The line as a person sees it."""
    body: str
    """The line without its prefixes."""
    order: int
    """Position among all events read."""
    candidates: tuple[Signature, ...]
    """What it may be, best first; which one holds can depend on the rest of the log."""
    rank: int | None
    task: int | None = None
    host: str | None = None
    pid: str | None = None
    thread: str | None = None
    device: int | None = None
    time: float | None = None
    relayed: bool = False
    """A framework repeats it after "Last error:" or inside another message."""
    handled: bool = False
    """The program caught it and went on."""
    trail: list[str] = field(default_factory=list)
    """NCCL's "-> N" lines after the warning: the way up to the caller."""
    signature: Signature | None = None
    """The candidate that holds, once decided."""

    @property
    def role(self) -> LineRole:
        return self.signature.role if self.signature else LineRole.BENIGN

    @property
    def stage(self) -> CrashStage:
        return self.signature.stage if self.signature else CrashStage.CATEGORY

    @property
    def family(self) -> str | None:
        return self.signature.family if self.signature else None

    @property
    def where(self) -> str:
        """ "rank3.log:17"."""
        return f"{self.file}:{self.line}"
