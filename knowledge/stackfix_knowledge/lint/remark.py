"""What a check of the facts says."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from stackfix_knowledge.reader import FactsError

__all__ = ["Remark", "RemarkKind"]


class RemarkKind(StrEnum):
    """What is to be done about it."""

    FAULT = "fault"
    """Wrong as it stands: it has to be corrected."""
    BORDERLINE = "borderline"
    """A share near a threshold: a person should see whether the verdict is right."""
    DECIDED = "decided"
    """A share near a threshold that a person has looked at: the text says why it stands."""
    DISPUTED = "disputed"
    """A vendor's document and the measurement disagree: both are shown, a person should know."""


class Remark(NamedTuple):
    """One line about one place."""

    kind: RemarkKind
    file: str
    """The facts file, relative to the folder of the facts; a project's own by its path."""
    place: str
    """Where in it; empty for the whole of it."""
    text: str

    @classmethod
    def fault(cls, file: str, place: str, expected: str) -> Remark:
        """A place where something else is expected."""
        return cls(kind=RemarkKind.FAULT, file=file, place=place, text=f"expected {expected}")

    @classmethod
    def refusal(cls, error: FactsError) -> Remark:
        """What reading refuses."""
        return cls.fault(error.file, error.place, error.expected)

    def __str__(self) -> str:
        where = f"{self.file}: {self.place}" if self.place else self.file
        return f"{where}: {self.text}"
