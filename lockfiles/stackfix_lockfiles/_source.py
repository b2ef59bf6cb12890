"""Where the values of a TOML document stand in its text.

The compiled reader gives values without positions, and a document that went through a writer is no
longer byte for byte what the user wrote. So values come from the reader, and this scanner, which
trusts a text the reader has accepted, says between which characters each of them stands: line
numbers for reports, and spans that an edit replaces while every other byte stays.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

__all__ = ["Header", "Node", "SourceMap"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SPACE = re.compile(r"[ \t]*")
_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''(?:[^']|'(?!''))*'{3,5}", re.DOTALL)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")


@dataclass(slots=True)
class Node:
    """A value: text[start:end]. Tables and arrays also know their children.

    `children` maps keys, or `0, 1, …` as text in arrays, to nodes. A table opened by a header
    or made of dotted keys has no single span; its `start` is that of its first mention.
    """

    start: int
    end: int
    shape: str
    """`string`, `scalar`, `array`, `inline` (table), `table`, `tables` (array of tables)."""
    children: dict[str, Node] = field(default_factory=dict)
    key_start: int = -1
    """Where the line's key begins; -1 for items of arrays."""
    header: Header | None = None


@dataclass(slots=True)
class Header:
    """A `[table]` line and where its section's last entry ends (`body_end`)."""

    path: tuple[str, ...]
    start: int
    end: int
    body_end: int


class SourceMap:
    """Positions of everything in one TOML document.

    Args:
        text: a document that a TOML reader has accepted.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = Node(0, len(text), "table")
        self.headers: list[Header] = []
        self.top_end = 0
        """End of the last entry before the first header."""
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._scan()

    def line(self, offset: int) -> int:
        """Return the 1-based line of a position."""
        return bisect_right(self._lines, offset)

    def find(self, *path: str | int) -> Node | None:
        """Return the node at a path of keys and array positions; None if there is none."""
        node = self.root
        for part in path:
            child = node.children.get(str(part))
            if child is None:
                return None
            node = child
        return node

    def sections(self, *path: str) -> Iterator[Header]:
        """Yield the headers of the table at `path` and of those below it."""
        return (header for header in self.headers if header.path[: len(path)] == path)

    def _scan(self) -> None:
        text, position = self.text, 1 if self.text.startswith("\ufeff") else 0
        table: Node = self.root
        header: Header | None = None
        while True:
            position = _blank(text, position)
            if position >= len(text):
                return
            if text[position] == "[":
                table, header, position = self._header(position)
                continue
            position = self._entry(table, position)
            if header is None:
                self.top_end = position
            else:
                header.body_end = position

    def _header(self, start: int) -> tuple[Node, Header, int]:
        double = self.text.startswith("[[", start)
        path, position = self._key(start + (2 if double else 1), _space)
        end = self.text.index("]", position) + (2 if double else 1)
        header = Header(path, start, end, end)
        self.headers.append(header)
        node = self.root
        for index, part in enumerate(path):
            last = index == len(path) - 1
            shape = "tables" if last and double else "table"
            child = node.children.get(part)
            if child is None:
                child = node.children[part] = Node(start, end, shape, key_start=start)
            if child.shape == "tables":
                if last:
                    item = Node(start, end, "table", header=header)
                    child.children[str(len(child.children))] = item
                child = child.children[str(len(child.children) - 1)]
            node = child
        if node.header is None:
            node.header = header
        return node, header, end

    def _entry(self, table: Node, start: int, *, inline: bool = False) -> int:
        gap = _blank if inline else _space  # TOML 1.1 lets an inline table break anywhere
        path, position = self._key(start, gap)
        node = table
        for part in path[:-1]:
            child = node.children.get(part)
            if child is None:
                child = node.children[part] = Node(start, start, "table", key_start=start)
            node = child
        position = gap(self.text, self.text.index("=", position) + 1)
        value = self._value(position)
        value.key_start = start
        node.children[path[-1]] = value
        return value.end

    def _key(self, start: int, gap: Callable[[str, int], int]) -> tuple[tuple[str, ...], int]:
        parts, position = [], gap(self.text, start)
        while True:
            if self.text[position] in "\"'":
                end = self._string_end(position)
                parts.append(_unquoted(self.text[position:end]))
            else:
                end = _match(_BARE, self.text, position)
                parts.append(self.text[position:end])
            position = gap(self.text, end)
            if not self.text.startswith(".", position):
                return tuple(parts), position
            position = gap(self.text, position + 1)

    def _string_end(self, start: int) -> int:
        text = self.text
        if text.startswith('"""', start):
            return _match(_LONG_BASIC, text, start)
        if text.startswith("'''", start):
            return _match(_LONG_LITERAL, text, start)
        return _match(_BASIC if text[start] == '"' else _LITERAL, text, start)

    def _value(self, start: int) -> Node:
        character = self.text[start]
        if character in "\"'":
            return Node(start, self._string_end(start), "string")
        if character == "[":
            return self._array(start)
        if character == "{":
            return self._inline(start)
        end = _match(_SCALAR, self.text, start)
        return Node(start, start + len(self.text[start:end].rstrip()), "scalar")

    def _array(self, start: int) -> Node:
        node = Node(start, start, "array")
        position = _blank(self.text, start + 1)
        while self.text[position] != "]":
            item = self._value(position)
            node.children[str(len(node.children))] = item
            position = _blank(self.text, item.end)
            if self.text[position] == ",":
                position = _blank(self.text, position + 1)
        node.end = position + 1
        return node

    def _inline(self, start: int) -> Node:
        node = Node(start, start, "inline")
        position = _blank(self.text, start + 1)
        while self.text[position] != "}":
            position = _blank(self.text, self._entry(node, position, inline=True))
            if self.text[position] == ",":
                position = _blank(self.text, position + 1)
        node.end = position + 1
        return node


def _match(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    if found is None:
        raise ValueError(f"no TOML token at {start}")
    return found.end()


def _space(text: str, start: int) -> int:
    return _match(_SPACE, text, start)


def _blank(text: str, start: int) -> int:
    return _match(_BLANK, text, start)


def _unquoted(token: str) -> str:
    if token.startswith("'"):
        return token[1:-1]
    if "\\" not in token:
        return token[1:-1]
    from stackfix_lockfiles._toml import loads

    return str(loads(f"key = {token}", "key")["key"])
