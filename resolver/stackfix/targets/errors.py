"""What can be wrong with the naming of a target."""

from __future__ import annotations

from stackfix.errors import StackfixError

__all__ = ["NoTarget", "TargetError"]


class TargetError(StackfixError):
    """A target that cannot be understood; the text is one line that says what was expected."""


class NoTarget(TargetError):
    """Nobody named a target and this machine has no card to plan for."""
