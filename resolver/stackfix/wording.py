"""Numbers, lists and foreign text in words: for reports, and for sentences made below them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["clean", "count", "listed", "one_line", "size"]

_UNITS = ("B", "kB", "MB", "GB", "TB")


def clean(text: str) -> str:
    """`text` with its control characters spelt out: a lock or a plan can come from anywhere, and
    a terminal obeys what it is sent. Line breaks and tabs stay.
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in "\n\t"
        else character.encode("unicode_escape").decode()
        for character in text
    )


def one_line(text: str) -> str:
    """`text` without line breaks and control characters, which quoted input may hold."""
    return clean(" ".join(text.split()))


def size(number: int) -> str:
    """Bytes as a person reads them, "3.1 GB": units of 1000, as uv and browsers count."""
    value = float(number)
    unit = 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return (
        f"{value:.1f} {_UNITS[unit]}"
        if 0 < value < 9.95 and unit
        else f"{value:.0f} {_UNITS[unit]}"
    )


def count(number: int, noun: str, plural: str | None = None) -> str:
    """ "1 package", "3 packages"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(items: Sequence[str], most: int = 6) -> str:
    """ "a, b, c and 4 more"."""
    shown = ", ".join(items[:most])
    return f"{shown} and {len(items) - most} more" if len(items) > most else shown
