"""How a log begins and ends: whether the run went well, was cut off, and whose lines it holds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from stackfix.diagnose.prefix import clean, split_prefix

__all__ = ["Ending", "ending_of"]

_GOOD = re.compile(
    r"\b(?:done|completed?|finished|success(?:ful(?:ly)?)?|saved|all rounds done)\b"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)? 0\b",
    re.IGNORECASE,
)
_BAD = re.compile(
    r"(?<!0 )(?<!no )\b(?:errors?|failed|failure|fatal|abort(?:ed)?|exception|traceback|killed"
    r"|cancelled|terminated|not (?:done|complete|finished))\b(?!: 0| 0\b|: none|s?: 0)",
    re.IGNORECASE,
)
_FRAME = re.compile(r'^\s+File ".+", line \d+|^\s+\^+\s*$|^\s{4}\S')
_LAST = 6
_EDGE = 400
"""Lines at either end that are asked for their ranks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What the edges of a log show."""

    empty: bool
    cut: bool
    """It stops inside a traceback, before the line that names the exception."""
    well: bool
    """Its last lines say that the run came to its end."""
    ranks: frozenset[int]
    """Ranks whose lines stand at the beginning or the end."""
    last: str


def ending_of(head: bytes, tail: bytes) -> Ending:
    """Read the edges of a log."""
    lines = [clean(line) for line in re.split(rb"[\r\n]+", tail)]
    lines = [line for line in lines if line.strip()]
    told = [split_prefix(line).body for line in lines[-60:] if "NCCL INFO" not in line][-_LAST:]
    bodies = [split_prefix(line).body for line in lines[-60:]]
    return Ending(
        empty=not lines and not head.strip(),
        cut=_is_cut(bodies, tail),
        well=any(_GOOD.search(body) for body in told)
        and not any(_BAD.search(body) for body in told),
        ranks=_ranks(head.splitlines()[:_EDGE]) | _ranks(tail.splitlines()[-_EDGE:]),
        last=lines[-1].strip()[:300] if lines else "",
    )


def _is_cut(bodies: list[str], tail: bytes) -> bool:
    """A traceback is open: frames follow it, but no line that ends it."""
    opened = max(
        (n for n, body in enumerate(bodies) if body.startswith("Traceback (most recent call")),
        default=None,
    )
    if opened is None:
        return False
    for body in bodies[opened + 1 :]:
        if _FRAME.match(body) or body.startswith(" "):
            continue
        unfinished = body is bodies[-1] and not tail.endswith((b"\n", b"\r"))
        return unfinished and not re.match(r"[\w.]*(?:Error|Exception|Interrupt|Exit)\b", body)
    return True


def _ranks(lines: Iterable[bytes]) -> frozenset[int]:
    ranks = set()
    for line in lines:
        prefix = split_prefix(clean(line[:400]))
        rank = prefix.rank if prefix.rank is not None else prefix.task
        if rank is not None and rank < 100_000:
            ranks.add(rank)
    return frozenset(ranks)
