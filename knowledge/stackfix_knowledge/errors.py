"""What every error of the facts and of measuring is."""

from __future__ import annotations

__all__ = ["KnowledgeError"]


class KnowledgeError(Exception):
    """Something that a user can put right; `str()` is the one line to show."""
