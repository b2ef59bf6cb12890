"""On which line each value of a TOML document stands: the compiled reader does not tell.

The scan trusts a text that the reader has accepted. It knows strings, brackets and line ends, and
nothing of what the values mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

__all__ = ["TOKEN", "Path", "lines"]

Path = tuple[str | int, ...]
_NO_KEY: Path = ()

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


def lines(text: str) -> Mapping[Path, int]:
    """Return the 1-based line of every table, key and array item of a valid document.

    A key's line is where the key begins, also where its value spans several. The line of a table
    is that of its first mention.
    """
    return _Scan(text).found


class _Scan:
    def __init__(self, text: str) -> None:
        self.found: dict[Path, int] = {}
        self._line = 1
        self._tables: dict[Path, int] = {}  # how many `[[tables]]` of a path there were so far
        self._tokens = self._significant(text.removeprefix("\ufeff"))
        self._entries(())

    def _significant(self, text: str) -> Iterator[str]:
        position = 0
        for match in TOKEN.finditer(text):
            self._line += text.count("\n", position, match.start())
            position = match.start()
            if not match[0].startswith("#"):
                yield match[0]

    def _entries(self, table: Path, *, inline: bool = False) -> None:
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

    def _header(self) -> Path:
        names: Path = ()
        double = False
        for token in self._tokens:
            if token == "]":
                break
            if token == "[":
                double = True
            else:
                names += _names(token)
        path: Path = ()
        for depth, name in enumerate(names, 1):
            path = (*path, name)
            self.found.setdefault(path, self._line)
            if double and depth == len(names):
                self._tables[path] = self._tables.get(path, 0) + 1
            if path in self._tables:
                path = (*path, self._tables[path] - 1)
                self.found.setdefault(path, self._line)
        return path

    def _value(self, token: str, path: Path) -> None:
        if token == "[":
            self._array(path)
        elif token == "{":
            self._entries(path, inline=True)

    def _array(self, path: Path) -> None:
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


def _names(token: str) -> Path:
    """Return the keys that a token of a dotted key holds."""
    if token[0] not in "\"'":
        return tuple(name for name in token.split(".") if name)
    if "\\" not in token:
        return (token[1:-1],)
    from stackfix_lockfiles._toml import loads

    return (str(loads(f"key = {token}", "key")["key"]),)
