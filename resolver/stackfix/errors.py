"""What a user can put right, told from what is a fault of the program."""

from __future__ import annotations

from stackfix_index.errors import Unreadable
from stackfix_knowledge.errors import KnowledgeError
from stackfix_lockfiles.errors import LockfilesError

__all__ = ["EXPECTED", "StackfixError"]


class StackfixError(Exception):
    """Something that a user can put right; `str()` is the one line to show."""


EXPECTED = (StackfixError, LockfilesError, KnowledgeError, Unreadable)
"""The root of the errors of each package: any other exception is a bug."""
