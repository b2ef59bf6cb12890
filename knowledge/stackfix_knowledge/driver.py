"""The version of an NVIDIA driver."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering

__all__ = ["DriverVersion"]

_FORM = re.compile(r"\d{1,4}(\.\d{1,5}){0,3}")


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class DriverVersion:
    """A driver's version; keeps its text and compares by numbers.

    ``570.133.07`` equals ``570.133.7``, and a bare branch, ``570``, is its lowest version.
    Building one from any other text raises ValueError.
    """

    text: str
    """As the driver writes it, with its leading zeros."""

    def __post_init__(self) -> None:
        if _FORM.fullmatch(self.text) is None:
            raise ValueError(
                f'{self.text!r} is no driver version: expected one like "570.133.07" or "570"'
            )

    @classmethod
    def parse(cls, text: str) -> DriverVersion:
        """Read a version, with blanks around it allowed."""
        return cls(text.strip())

    @property
    def branch(self) -> int:
        """The driver's branch: 570 for ``570.133.07``."""
        return int(self.text.partition(".")[0])

    @property
    def numbers(self) -> tuple[int, ...]:
        """The parts as numbers, without the zeros at the end."""
        parts = [int(part) for part in self.text.split(".")]
        while len(parts) > 1 and parts[-1] == 0:
            parts.pop()
        return tuple(parts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DriverVersion):
            return NotImplemented
        return self.numbers == other.numbers

    def __lt__(self, other: DriverVersion) -> bool:
        if not isinstance(other, DriverVersion):
            return NotImplemented
        return self.numbers < other.numbers

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __str__(self) -> str:
        return self.text
