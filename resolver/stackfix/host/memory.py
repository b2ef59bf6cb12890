"""What became of a card's bad memory."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Repairs", "Unit"]


class Unit(StrEnum):
    """What a card takes out of use."""

    ROWS = "rows"
    """Remapped to spare ones, from Ampere on."""
    PAGES = "pages"
    """Retired, before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """Memory that was taken out of use for its errors."""

    unit: Unit
    corrected: int
    """For errors that could be corrected."""
    uncorrected: int
    """For errors that could not."""
    pending: bool | None = None
    """Whether some wait for a reset of the card."""
    failed: bool | None = None
    """Whether one could not be repaired; pages do not tell."""
