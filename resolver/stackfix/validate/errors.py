"""What keeps a validation from starting."""

from __future__ import annotations

from stackfix.errors import StackfixError

__all__ = ["CannotInstall", "DiskShort"]


class CannotInstall(StackfixError):
    """The scratch environment could not be made; the text says why, in one line."""

    def __init__(self, reason: str, log: str = "") -> None:
        self.reason = reason
        self.log = log
        """What uv printed."""
        super().__init__(reason)


class DiskShort(StackfixError):
    """There is too little room for the scratch environment; nothing was downloaded."""
