"""Changes to the text of a TOML document that leave every other character where it was.

Each function takes a text that a TOML reader accepts and returns the changed one. Styles come from
what stands beside: quotes, indentation, one line or several, trailing comma, line endings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from stackfix_lockfiles._source import Header, Node, SourceMap

__all__ = [
    "append_item",
    "append_table",
    "inline_table",
    "inline_value",
    "insert_key",
    "key_text",
    "newline",
    "quoted",
    "remove_item",
    "replace_span",
    "requoted",
]

Keys = tuple[str, ...]
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def quoted(value: str) -> str:
    """Return a basic TOML string; literal where that avoids escapes."""
    if "'" not in value and ('"' in value or "\\" in value) and value.isprintable():
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'


def requoted(value: str, like: str) -> str:
    """Return `value` with the quotes of the string token `like`, where they can hold it."""
    if like.startswith("'") and "'" not in value and value.isprintable():
        return f"'{value}'"
    return quoted(value) if "'" in value or not like.startswith('"') else _basic(value)


def _basic(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in escaped) + '"'


def key_text(keys: Keys) -> str:
    """Return a dotted key."""
    return ".".join(key if _BARE.fullmatch(key) else _basic(key) for key in keys)


def inline_table(table: Mapping[str, object]) -> str:
    """Return `{ index = "pytorch", marker = "…" }`."""
    pairs = (f"{key_text((key,))} = {inline_value(value)}" for key, value in table.items())
    return f"{{ {', '.join(pairs)} }}"


def inline_value(value: object) -> str:
    """Return a boolean or string as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    return quoted(str(value))


def replace_span(text: str, start: int, end: int, new: str) -> str:
    """Return the text with text[start:end] replaced."""
    return text[:start] + new + text[end:]


def newline(text: str) -> str:
    """Return the line ending of the document."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def append_item(text: str, keys: Keys, item: str, comment: str | None) -> str:
    """Append an item (TOML text) to the array at `keys`."""
    node = _node(text, keys)
    items = list(node.children.values())
    end = newline(text)
    note = f"  # {comment}" if comment else ""
    if not items:
        return _first_item(text, node, item, note, end)
    last = items[-1]
    comma = _comma(text, last.end, node.end)
    after = comma + 1 if comma >= 0 else last.end
    line_end = _line_end(text, after)
    if line_end >= node.end - 1:  # the closing bracket stands on the last item's line
        addition = f", {item}"
        if comma >= 0:
            lead = " " if not text[after : node.end - 1].strip(" \t") else ""
            return replace_span(text, after, after, f"{lead}{item},")
        return replace_span(text, last.end, last.end, addition)
    start = text.rfind("\n", 0, last.start) + 1
    indent = text[start : last.start]
    if indent.strip():  # several items share the last line
        indent = indent[: len(indent) - len(indent.lstrip())] or "    "
    tail = "," if comma >= 0 or comment else ""
    text = replace_span(text, line_end, line_end, f"{end}{indent}{item}{tail}{note}")
    return text if comma >= 0 else replace_span(text, last.end, last.end, ",")


def _first_item(text: str, node: Node, item: str, note: str, end: str) -> str:
    inside = text[node.start + 1 : node.end - 1]
    if "\n" not in inside:
        lead = " " if inside.startswith(" ") else ""
        return replace_span(text, node.start + 1, node.end - 1, f"{lead}{item}{lead}")
    close = text.rfind("\n", 0, node.end) + 1
    indent = text[close : node.end - 1] + "    "
    return replace_span(text, close, close, f"{indent}{item},{note}{end}")


def remove_item(text: str, keys: Keys, index: int) -> str:
    """Remove an array's item, with its comma; with its line and comment if it has one alone."""
    node = _node(text, keys)
    items = list(node.children.values())
    item = items[index]
    comma = _comma(text, item.end, node.end)
    after = comma + 1 if comma >= 0 else item.end
    start, line_end = text.rfind("\n", 0, item.start) + 1, _line_end(text, after)
    rest = text[after:line_end].strip()
    alone = not text[start : item.start].strip() and (not rest or rest.startswith("#"))
    if alone and start > node.start and line_end < node.end - 1:
        return replace_span(text, start, text.index("\n", line_end) + 1, "")
    if comma >= 0:
        while text[after] in " \t":
            after += 1
        return replace_span(text, item.start, after, "")
    start = items[index - 1].end if index else item.start
    return replace_span(text, start, item.end, "")


def insert_key(text: str, table: Keys, key: str, value: str) -> str:
    """Add `key = value` at the end of the table, which is created where it does not exist."""
    source = SourceMap(text)
    end = newline(text)
    line = f"{key_text((key,))} = {value}"
    node = source.find(*table)
    if node is not None and node.shape == "inline":
        return _into_inline(text, node, line)
    if node is not None and node.header is not None:
        return replace_span(*_end_of_line(text, node.header.body_end), f"{end}{line}")
    dotted = _dotted_home(source, table)
    if dotted is not None:
        header, rest = dotted
        line = f"{key_text((*rest, key))} = {value}"
        at = source.top_end if header is None else header.body_end
        return replace_span(*_end_of_line(text, at), f"{end}{line}")
    section = f"[{key_text(table)}]{end}{line}{end}"
    below = next(source.sections(*table), None)
    if below is not None:  # before the first sub-table and the comments that belong to it
        at = _before_comments(text, below.start)
        return replace_span(text, at, at, section + end)
    return _after_sections(text, source, table, section.rstrip("\r\n"), end)


def append_table(text: str, keys: Keys, lines: list[str]) -> str:
    """Add a `[[keys]]` table after the last of its kind, else after its parent's sections."""
    source = SourceMap(text)
    end = newline(text)
    section = end.join((f"[[{key_text(keys)}]]", *lines))
    same = [header for header in source.headers if header.path == keys]
    if same:
        last = list(source.sections(*keys))[-1]
        return replace_span(*_end_of_line(text, last.body_end), f"{end}{end}{section}")
    return _after_sections(text, source, keys, section, end)


def _after_sections(text: str, source: SourceMap, keys: Keys, section: str, end: str) -> str:
    """Put a new section after the last one that shares the longest parent of `keys`."""
    for depth in range(len(keys) - 1, 0, -1):
        if depth == 1 and keys[0] == "tool":
            break  # other tools' tables are no neighbours: the end of the file is
        related = list(source.sections(*keys[:depth]))
        if related:
            at = related[-1].body_end
            return replace_span(*_end_of_line(text, at), f"{end}{end}{section}")
    if not text.strip("\ufeff \t\r\n"):
        return f"{text}{section}{end}"
    closing = "" if text.endswith("\n") else end
    return f"{text}{closing}{end}{section}{end}"


def _dotted_home(source: SourceMap, table: Keys) -> tuple[Header | None, Keys] | None:
    """Return the section whose dotted keys make up the table, and the keys they begin with."""
    node = source.find(*table)
    if node is None or not node.children or node.shape != "table":
        return None
    first = min((child for child in node.children.values()), key=lambda child: child.key_start)
    if first.header is not None or source.text.startswith("[", first.key_start):
        return None
    home: Header | None = None
    for header in source.headers:
        if header.start <= first.key_start:
            home = header
    path = home.path if home else ()
    return (home, table[len(path) :]) if table[: len(path)] == path else None


def _into_inline(text: str, node: Node, line: str) -> str:
    last = list(node.children.values())
    if not last:
        return replace_span(text, node.start, node.end, f"{{ {line} }}")
    at = last[-1].end
    return replace_span(text, at, at, f", {line}")


def _node(text: str, keys: Keys) -> Node:
    node = SourceMap(text).find(*keys)
    if node is None or node.shape != "array":
        raise ValueError(f"expected an array at {'.'.join(keys)}")
    return node


def _comma(text: str, start: int, end: int) -> int:
    """Return the position of the comma after an item, -1 if there is none."""
    position = start
    while position < end:
        character = text[position]
        if character == ",":
            return position
        if character == "#":
            position = text.index("\n", position)
        elif character not in " \t\r\n":
            return -1
        position += 1
    return -1


def _line_end(text: str, start: int) -> int:
    """Return where the line ends, before its line ending."""
    end = text.find("\n", start)
    if end < 0:
        return len(text)
    return end - 1 if end > start and text[end - 1] == "\r" else end


def _end_of_line(text: str, at: int) -> tuple[str, int, int]:
    end = _line_end(text, at)
    return text, end, end


def _before_comments(text: str, start: int) -> int:
    """Return the start of the comment lines directly above a position."""
    while start > 0:
        previous = text.rfind("\n", 0, start - 1) + 1
        if not text[previous:start].lstrip(" \t\ufeff").startswith("#"):
            return start
        start = previous
    return start
