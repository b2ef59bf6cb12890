"""A value together with the reasons to believe it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from stackfix_knowledge.evidence import Evidence

__all__ = ["Known"]

Value = TypeVar("Value", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(Generic[Value]):
    """One fact as a query returns it: what is known, and from where.

    A query that knows nothing returns None instead of a Known.
    """

    value: Value
    """The fact itself."""

    evidence: tuple[Evidence, ...]
    """Where it comes from; never empty."""

    note: str | None = None
    """What a reader should know before relying on it ("derived from the toolkit's driver")."""

    def __str__(self) -> str:
        return str(self.value)
