"""What can go wrong with an index, and with any file that was made by strangers."""

from __future__ import annotations

__all__ = ["Refused", "Unreadable"]


class Unreadable(Exception):
    """A file or an index that cannot be read. `str()` is the one line to show."""

    def __init__(self, source: str, place: str | None, expected: str) -> None:
        self.source = source
        """The wheel, library or index at fault."""
        self.place = place
        """Where in it; None for the whole of it."""
        self.expected = expected
        """What should be there."""
        where = source if place is None else f"{source}: {place}"
        super().__init__(_one_line(f"{where}: expected {expected}"))

    def __reduce__(self) -> tuple[type[Unreadable], tuple[str, str | None, str]]:
        """Copies between processes are made of the parts, not of the line."""
        return type(self), (self.source, self.place, self.expected)


class Refused(Unreadable):
    """A server answered, and not with what it was asked for."""


def _one_line(text: str) -> str:
    """Names come from strangers' files: keep them from breaking the line or the terminal."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text
    )
