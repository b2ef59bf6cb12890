"""Strings of a TOML array that tomlkit has parsed: spelled and placed in the array's own style."""

from __future__ import annotations

import tomlkit
from tomlkit.items import Array, Item, String, Whitespace

from stackfix_lockfiles._lines import TOKEN

__all__ = ["append", "string"]


def string(value: str, like: Item | None = None) -> String:
    """Return a string with the quotes of another one, where they can hold it."""
    literal, multiline = '"' in value and "'" not in value, False
    if isinstance(like, String):
        token = like.as_string()
        literal, multiline = token.startswith("'"), token.startswith(('"""', "'''"))
    try:
        return tomlkit.string(value, literal=literal, multiline=multiline)
    except ValueError:  # no literal string can hold it
        return tomlkit.string(value)


def append(array: Array, item: Item, comment: str | None = None) -> None:
    """Append to an array: on a line of its own, and with a comma behind it, where its style is so.

    The comment is left out where the item shares its line with others.
    """
    if not array and comment and "\n" not in array.as_string():
        array.clear()
        array.add_line(indent="")
    text = array.as_string()
    tokens = [match[0] for match in TOKEN.finditer(text) if match[0][0] not in "#\n"]
    trailing = tokens[-2] == ","
    lone = text[:-1].rstrip(" \t").endswith("\n")
    if not (trailing or (lone and (comment or not array))):
        array.append(item)
        return
    several = "\n" in text
    indent = _indent(text) if several else " "
    if lone and comment:
        parts = (item, Whitespace(","), Whitespace(" "))  # two spaces before the comment
        array.add_line(*parts, indent=indent, comment=comment, add_comma=False)
    else:
        array.add_line(item, indent=indent, newline=several)


def _indent(text: str) -> str:
    """Return the indentation of the array's last line; deeper than the bracket's if it is alone."""
    lines = text.split("\n")[1:]
    spaces = [line[: len(line) - len(line.lstrip())] for line in lines]
    for line, space in zip(reversed(lines), reversed(spaces), strict=True):
        if line.strip() and not line.lstrip().startswith("]"):
            return space
    return spaces[-1] + "    "
