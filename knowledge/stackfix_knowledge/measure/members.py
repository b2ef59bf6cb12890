"""What measuring asks of a wheel, packed or installed."""

from __future__ import annotations

import mmap
from contextlib import AbstractContextManager
from typing import Protocol

__all__ = ["Members"]


class Members(Protocol):
    """The files of a wheel by their paths in it. What cannot be read raises MeasureError."""

    @property
    def name(self) -> str:
        """What errors call the whole of it."""

    def names(self) -> tuple[str, ...]:
        """The paths of its files, each once."""

    def text(self, member: str) -> str:
        """A small file as text; bytes that are no UTF-8 become replacement characters."""

    def read(self, member: str, *, limit: int) -> bytes:
        """A small file as bytes; one larger than the limit (bytes) is an error."""

    def mapped(self, member: str) -> AbstractContextManager[bytes | mmap.mmap]:
        """A large file, readable until the context is left."""
