"""What of a lock is meant: extras, groups and Python, as a person chose them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EVERYTHING", "PLAIN", "Selection"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The environments of a lock that are judged; by default what a plain `uv sync` installs."""

    every: bool = False
    """Every choice of extras and groups that can be installed, those that conflict apart."""
    extras: tuple[str, ...] = ()
    all_extras: bool = False
    groups: tuple[str, ...] = ()
    """Groups beside the project's default ones."""
    python: str | None = None
    """None: the project's own Python, and one of every fork in which GPU packages differ."""


PLAIN = Selection()
EVERYTHING = Selection(every=True)
