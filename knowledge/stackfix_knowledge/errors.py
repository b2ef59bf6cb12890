"""What can go wrong with facts, besides a file or an index that is `Unreadable`."""

from __future__ import annotations

__all__ = ["KnowledgeError"]


class KnowledgeError(Exception):
    """Something that a user can put right; `str()` is the one line to show."""
