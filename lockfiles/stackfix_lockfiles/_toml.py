"""TOML read from untrusted files: bounded, one-line errors, typed access that knows its place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from stackfix_lockfiles.errors import InputError, printable

__all__ = ["MAX_BYTES", "Fault", "decode", "listed", "loads", "parse", "read_bytes"]

MAX_BYTES = 64 * 1024 * 1024
"""No lock or project file is larger than this; the largest lock of the corpus has 2.5 MB."""

_LINE = re.compile(r"\s*(?:at|on) line (\d+) column (\d+)")
_NAMES: dict[type, str] = {
    str: "a string",
    int: "an integer",
    bool: "a boolean",
    float: "a float",
    list: "an array",
    dict: "a table",
}

T = TypeVar("T")


class Fault(Exception):
    """A wrong value, with the path to it as far as the raising function knows it.

    Callers add their part with `under`; the outermost one makes an `InputError` of it. A path costs
    nothing as long as nothing is wrong.
    """

    def __init__(self, place: str, expected: str) -> None:
        super().__init__(place, expected)
        self.place = place
        self.expected = expected

    def under(self, parent: str) -> Fault:
        """Return the same fault seen from one level up."""
        if not self.place:
            return Fault(parent, self.expected)
        joint = "" if self.place.startswith("[") else "."
        return Fault(f"{parent}{joint}{self.place}", self.expected)

    def error(self, file: Path | str, line: int | None = None) -> InputError:
        """Return the error to show to a user."""
        return InputError(file, self.expected, place=self.place or None, line=line)


def kind(value: object) -> str:
    """Return the TOML name of a value's type, with its article."""
    return _NAMES.get(type(value), "a date or time")


def read_bytes(
    path: Path, *, name: str | None = None, what: str = "a TOML file", limit: int = MAX_BYTES
) -> bytes:
    """Read a regular file of at most `limit` bytes.

    Raises:
        InputError: it is missing, unreadable, not a regular file, or too large.
    """
    shown = name or str(path)
    try:
        if not path.exists():
            raise InputError(shown, f"expected {what}, found no such file")
        if not path.is_file():
            raise InputError(shown, f"expected {what}, found something that is not a regular file")
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(shown, f"expected {what}, but it cannot be read: {reason}") from error
    if len(data) > limit:
        raise InputError(shown, f"expected at most {limit // 2**20} MB, found more")
    return data


def decode(data: bytes, name: Path | str, *, what: str = "a TOML file") -> str:
    """Decode a TOML file's bytes.

    Raises:
        InputError: it is empty, too large, binary, or not UTF-8.
    """
    if len(data) > MAX_BYTES:
        raise InputError(name, f"expected at most {MAX_BYTES // 2**20} MB, found more")
    if not data.strip():
        raise InputError(name, f"expected {what}, found an empty file")
    nul = data.find(b"\0")
    if nul >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise InputError(name, "expected text, found a NUL byte", line=line)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"0x{data[error.start]:02x}"
        raise InputError(name, f"expected UTF-8, found byte {found}", line=line) from error


def loads(text: str, name: Path | str) -> dict[str, Any]:
    """Parse TOML text with the compiled reader.

    Raises:
        InputError: a syntax error, with its line and the parser's reason in one line.
    """
    import rtoml  # compiled, but 5 ms to import: not before a file is really read

    try:
        return rtoml.loads(text)
    except (ValueError, RecursionError) as error:
        reason, line, column = str(error), None, ""
        if found := _LINE.search(reason):
            line, column = int(found[1]), f" (column {found[2]})"
            reason = reason[: found.start()] + reason[found.end() :]
        raise InputError(
            name, f"expected valid TOML: {printable(reason.strip())}{column}", line=line
        ) from error


def parse(data: bytes, name: Path | str, *, what: str = "a TOML file") -> dict[str, Any]:
    """Decode and parse; see `decode` and `loads` for the errors."""
    return loads(decode(data, name, what=what), name)


def wrong(place: str, expected: str, value: object) -> Fault:
    """Return the fault of a value that has another type than `expected`."""
    return Fault(place, f"expected {expected}, found {kind(value)}")


def text(table: Mapping[str, Any], key: str) -> str:
    """Return the string at `key`; a `Fault` if it is missing or no string."""
    value = table.get(key)
    if type(value) is str:
        return value
    if value is None:
        raise Fault(key, "expected a string, found nothing")
    raise wrong(key, "a string", value)


def optional_text(table: Mapping[str, Any], key: str) -> str | None:
    """Return the string at `key`, None if it is absent."""
    value = table.get(key)
    if value is None or type(value) is str:
        return value
    raise wrong(key, "a string", value)


def optional_integer(table: Mapping[str, Any], key: str) -> int | None:
    """Return the integer at `key`, None if it is absent."""
    value = table.get(key)
    if value is None or type(value) is int:
        return value
    raise wrong(key, "an integer", value)


def subtable(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return the table at `key`, an empty one if it is absent."""
    value = table.get(key)
    if value is None:
        return {}
    if type(value) is dict:
        return value
    raise wrong(key, "a table", value)


def array(table: Mapping[str, Any], key: str) -> list[Any]:
    """Return the array at `key`, an empty one if it is absent."""
    value = table.get(key)
    if value is None:
        return []
    if type(value) is list:
        return value
    raise wrong(key, "an array", value)


def listed(table: Mapping[str, Any], key: str, kind_of: type[T]) -> tuple[T, ...]:
    """Return the array at `key`, each item of the given type."""
    items = array(table, key)
    for index, item in enumerate(items):
        if type(item) is not kind_of:
            raise wrong(f"{key}[{index}]", _NAMES[kind_of], item)
    return tuple(items)
