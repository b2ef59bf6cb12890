"""An event: one line of a log that a signature knows."""

from __future__ import annotations

from dataclasses import dataclass, field

from stackfix_knowledge.logs.signatures import CrashStage, LineRole, Signature

__all__ = ["Event"]


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
    level: str | None = None
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
