"""The root of all errors here, and the one of input: which file, where, what was expected."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["InputError", "LockfilesError", "printable", "without_credentials"]

_USERINFO = re.compile(r"(?<=://)[^/@\s`'\"]+@")

_LONGEST = 600
"""Characters of one part of a message."""


class LockfilesError(Exception):
    """Something that a user can put right; `str()` is what to show."""


class InputError(LockfilesError):
    """A file that cannot be used as it is.

    `str()` is one printable line, `uv.lock: package[41].wheels[2].hash: expected a string, found
    integer`, or with a line number `pyproject.toml:12: project.dependencies[3]: expected …`. A URL
    that it quotes is without credentials.

    Attributes:
        file: the file (or folder) at fault.
        place: path of the fault inside it, such as `package[41].name`; None for the whole file.
        expected: what was expected, and what was found instead.
        line: 1-based line of the fault, where known.
    """

    def __init__(
        self,
        file: Path | str,
        expected: str,
        *,
        place: str | None = None,
        line: int | None = None,
    ) -> None:
        self.file = file
        self.place = place
        self.expected = expected
        self.line = line
        super().__init__(file, expected, place, line)

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line is not None else str(self.file)
        parts = [where, self.place, self.expected] if self.place else [where, self.expected]
        said = ": ".join(_shortened(str(part)) for part in parts)
        return printable(without_credentials(said))


def _shortened(text: str) -> str:
    """`text` without its middle where it is long: quoted input may have any length."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"


def printable(text: str) -> str:
    """Return `text` as one line without control characters: quoted input may hold any byte."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def without_credentials(text: str) -> str:
    """Return `text` with `user:password@` taken out of every URL."""
    return _USERINFO.sub("", text)
