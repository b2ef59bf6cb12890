"""TOML read from untrusted files: bounded, one-line errors, typed access that knows its place.

The compiled reader does not tell on which line a value stands: `lines` scans a text that the reader
has accepted for that. It knows strings, brackets and line ends, and nothing of what values mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from stackfix_lockfiles.errors import InputError, printable

__all__ = [
    "MAX_BYTES",
    "TOKEN",
    "ValuePath",
    "WrongValue",
    "decode",
    "lines",
    "listed",
    "loads",
    "parse",
    "read_bytes",
]

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


class WrongValue(Exception):
    """A wrong value, with the path to it as far as the raising function knows it.

    Callers add their part with `under`; the outermost one makes an `InputError` of it. A path costs
    nothing as long as nothing is wrong.
    """

    def __init__(self, place: str, expected: str) -> None:
        super().__init__(place, expected)
        self.place = place
        self.expected = expected

    def under(self, parent: str) -> WrongValue:
        """Return the same fault seen from one level up."""
        if not self.place:
            return WrongValue(parent, self.expected)
        joint = "" if self.place.startswith("[") else "."
        return WrongValue(f"{parent}{joint}{self.place}", self.expected)

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


def wrong(place: str, expected: str, value: object) -> WrongValue:
    """Return the fault of a value that has another type than `expected`."""
    return WrongValue(place, f"expected {expected}, found {kind(value)}")


def text(table: Mapping[str, Any], key: str) -> str:
    """Return the string at `key`; a `WrongValue` if it is missing or no string."""
    value = table.get(key)
    if type(value) is str:
        return value
    if value is None:
        raise WrongValue(key, "expected a string, found nothing")
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


ValuePath = tuple[str | int, ...]
_NO_KEY: ValuePath = ()

TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'
    r"|'''(?:[^']|'(?!''))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{},=\n]"
    r"|[^ \t\r\n\[\]{},=#\"']+",  # bare keys with their dots; numbers, dates, booleans
    re.DOTALL,
)


def lines(text: str) -> Mapping[ValuePath, int]:
    """Return the 1-based line of every table, key and array item of a valid document.

    A key's line is where the key begins, also where its value spans several. The line of a table
    is that of its first mention.
    """
    return _Scan(text).found


class _Scan:
    def __init__(self, text: str) -> None:
        self.found: dict[ValuePath, int] = {}
        self._line = 1
        self._tables: dict[ValuePath, int] = {}  # how many `[[tables]]` of a path there were so far
        self._tokens = self._significant(text.removeprefix("\ufeff"))
        self._entries(())

    def _significant(self, text: str) -> Iterator[str]:
        position = 0
        for match in TOKEN.finditer(text):
            self._line += text.count("\n", position, match.start())
            position = match.start()
            if not match[0].startswith("#"):
                yield match[0]

    def _entries(self, table: ValuePath, *, inline: bool = False) -> None:
        """Read the keys of the document, or of an inline table up to its closing brace."""
        key, reading = _NO_KEY, True
        for token in self._tokens:
            if inline and token == "}":
                return
            if token == ("," if inline else "\n"):
                key, reading = _NO_KEY, True
            elif token == "\n" or not reading:
                continue  # what is left of a date or a header
            elif token == "[":
                table, reading = self._header(), False
            elif token == "=":
                self._value(next(token for token in self._tokens if token != "\n"), table + key)
                reading = False
            else:
                for name in _names(token):
                    key = (*key, name)
                    self.found.setdefault(table + key, self._line)

    def _header(self) -> ValuePath:
        names: ValuePath = ()
        double = False
        for token in self._tokens:
            if token == "]":
                break
            if token == "[":
                double = True
            else:
                names += _names(token)
        path: ValuePath = ()
        for depth, name in enumerate(names, 1):
            path = (*path, name)
            self.found.setdefault(path, self._line)
            if double and depth == len(names):
                self._tables[path] = self._tables.get(path, 0) + 1
            if path in self._tables:
                path = (*path, self._tables[path] - 1)
                self.found.setdefault(path, self._line)
        return path

    def _value(self, token: str, path: ValuePath) -> None:
        if token == "[":
            self._array(path)
        elif token == "{":
            self._entries(path, inline=True)

    def _array(self, path: ValuePath) -> None:
        position, expected = 0, True
        for token in self._tokens:
            if token == "]":
                return
            if token == ",":
                expected = True
            elif expected and token != "\n":
                self.found[(*path, position)] = self._line
                self._value(token, (*path, position))
                position, expected = position + 1, False


def _names(token: str) -> ValuePath:
    """Return the keys that a token of a dotted key holds."""
    if token[0] not in "\"'":
        return tuple(name for name in token.split(".") if name)
    if "\\" not in token:
        return (token[1:-1],)
    from stackfix_lockfiles.toml import loads

    return (str(loads(f"key = {token}", "key")["key"]),)
