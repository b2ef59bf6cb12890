"""How bad a fact is for a stack that it applies to."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["FactSeverity"]


class FactSeverity(StrEnum):
    """What a fact may make of a stack, worst first."""

    ERROR = "error"
    """A normal run crashes, hangs or computes wrong results, and all conditions can be checked."""
    WARNING = "warning"
    """It may, under conditions that cannot be seen from outside."""
    INFO = "info"
    """Worth knowing; rare, or a change of behaviour."""
