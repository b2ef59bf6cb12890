"""A variable of the environment and why it is named."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Advice", "Variable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One variable to set, or to think of."""

    name: str
    value: str | None
    """None: only a person can tell."""
    set: bool
    """False: offered, since it is not known whether it applies, or is a matter of taste."""
    reasons: tuple[str, ...]
    advisories: tuple[str, ...] = ()
    """The known bugs it works around, by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """All variables, those to set first, and what no variable with a known value can do."""

    variables: tuple[Variable, ...]
    notes: tuple[str, ...]
