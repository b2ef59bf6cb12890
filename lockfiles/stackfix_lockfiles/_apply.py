"""Applying edits to a file's text, and reading back what came out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from stackfix_lockfiles import _splice
from stackfix_lockfiles._edit import Edit, EditKind
from stackfix_lockfiles._source import Node, SourceMap
from stackfix_lockfiles._specifier import is_url, respecified, specifier_of
from stackfix_lockfiles._toml import loads
from stackfix_lockfiles.errors import InputError

__all__ = ["apply_to_text"]


def apply_to_text(text: str, edits: Iterable[Edit], name: str) -> str:
    """Return the text with the edits applied in order.

    Raises:
        InputError: what an edit replaces is not there, or the result would not say exactly what
            was meant (an unusual layout): the message says what to write by hand.
    """
    for edit in edits:
        before = loads(text, name)
        try:
            changed = _APPLY[edit.kind](text, edit)
            wanted = copy.deepcopy(before)
            _EXPECT[edit.kind](wanted, edit)
            exact = loads(changed, name) == wanted
        except (InputError, ValueError, LookupError, TypeError, AttributeError) as error:
            if isinstance(error, _Gone):
                raise InputError(name, error.expected, place=edit.table, line=edit.line) from None
            exact = False
        if not exact:
            raise InputError(name, _by_hand(edit), place=edit.table, line=edit.line)
        text = changed
    return text


class _Gone(LookupError):
    """The file does not hold what the edit replaces."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


def _by_hand(edit: Edit) -> str:
    what = f"{edit.package} = {edit.new}" if edit.package else edit.new
    if edit.new is None:
        return f"expected a layout that can be edited; please remove {edit.old!r} by hand"
    return f"expected a layout that can be edited; please write {what!r} by hand"


def _position(values: list[Any], edit: Edit) -> int:
    """Return where the old value is; of equal ones, that nearest to where it was."""
    found = [index for index, value in enumerate(values) if value == edit.old]
    if not found:
        raise _Gone(f"expected {edit.old!r}, which is not there: the file changed since")
    return min(found, key=lambda index: abs(index - (edit.index or 0)))


def _requirement(text: str, edit: Edit) -> str:
    node = SourceMap(text).find(*edit.keys)
    comment = " ".join(edit.why.split()) if edit.comment else None
    if comment is not None and not comment.isprintable():
        comment = None
    if edit.old is None:
        item = _splice.quoted(str(edit.new))
        if node is not None:
            return _splice.append_item(text, edit.keys, _like(text, node, str(edit.new)), comment)
        value = f"[{item}]"
        if comment:
            end = _splice.newline(text)
            value = f"[{end}    {item},  # {comment}{end}]"
        return _splice.insert_key(text, edit.keys[:-1], edit.keys[-1], value)
    position = _position(_array(loads(text, "text"), edit.keys), edit)
    if edit.new is None:
        return _splice.remove_item(text, edit.keys, position)
    if node is None:
        raise _Gone(f"expected {edit.old!r}, which is not there: the file changed since")
    token = node.children[str(position)]
    old = text[token.start : token.end]
    return _splice.replace_span(text, token.start, token.end, _rewritten(old, edit))


def _like(text: str, array: Node, value: str) -> str:
    """Quote as the array's last string is quoted."""
    strings = [child for child in array.children.values() if child.shape == "string"]
    like = text[strings[-1].start : strings[-1].end] if strings else '"'
    return _splice.requoted(value, like)


def _rewritten(token: str, edit: Edit) -> str:
    """Return the string token with the new value: only the specifier changes where it can."""
    width = 3 if token.startswith(('"""', "'''")) else 1
    new = str(edit.new)
    if not is_url(new):
        try:
            inner = respecified(token[width:-width], specifier_of(new))
            rewritten = token[:width] + inner + token[-width:]
            if loads(f"value = {rewritten}", "value")["value"] == new:
                return rewritten
        except (ValueError, InputError):
            pass
    return _splice.requoted(new, token)


def _array(document: dict[str, Any], keys: tuple[str, ...]) -> list[Any]:
    value: Any = document
    for key in keys:
        value = value[key] if isinstance(value, dict) and key in value else None
        if value is None:
            raise _Gone(f"expected an array at {'.'.join(keys)}: the file changed since")
    return value if isinstance(value, list) else [value]


def _index(text: str, edit: Edit) -> str:
    node = SourceMap(text).find(*edit.keys)
    if node is not None and node.shape == "array":
        return _splice.append_item(text, edit.keys, str(edit.new), None)
    table = loads(f"table = {edit.new}", "index")["table"]
    lines = [f"{key} = {_splice.inline_value(value)}" for key, value in table.items()]
    return _splice.append_table(text, edit.keys, lines)


def _source(text: str, edit: Edit) -> str:
    package, new = str(edit.package), str(edit.new)
    source = SourceMap(text)
    node = source.find(*edit.keys, package)
    if node is None:
        return _splice.insert_key(text, edit.keys, package, new)
    if edit.old is not None:
        places = [node, *node.children.values()]
        for place in places:
            if text[place.start : place.end] == edit.old:
                return _splice.replace_span(text, place.start, place.end, new)
        raise _Gone(f"expected {edit.old!r}, which is not there: the file changed since")
    if node.shape == "array":
        return _splice.append_item(text, (*edit.keys, package), new, None)
    end = _splice.newline(text)
    both = f"[{end}    {text[node.start : node.end]},{end}    {new},{end}]"
    return _splice.replace_span(text, node.start, node.end, both)


def _expect_requirement(document: dict[str, Any], edit: Edit) -> None:
    table = document
    for key in edit.keys[:-1]:
        table = table.setdefault(key, {})
    items = table.setdefault(edit.keys[-1], [])
    if edit.old is None:
        items.append(edit.new)
        return
    position = _position(items, edit)
    if edit.new is None:
        del items[position]
    else:
        items[position] = edit.new


def _expect_index(document: dict[str, Any], edit: Edit) -> None:
    table = document
    for key in edit.keys[:-1]:
        table = table.setdefault(key, {})
    table.setdefault(edit.keys[-1], []).append(loads(f"table = {edit.new}", "index")["table"])


def _expect_source(document: dict[str, Any], edit: Edit) -> None:
    table = document
    for key in edit.keys:
        table = table.setdefault(key, {})
    new = loads(f"table = {edit.new}", "source")["table"]
    present = table.get(str(edit.package))
    if present is None:
        table[str(edit.package)] = new
    elif edit.old is None:
        table[str(edit.package)] = [*(present if isinstance(present, list) else [present]), new]
    elif present == (old := loads(f"table = {edit.old}", "source")["table"]):
        table[str(edit.package)] = new
    else:
        present[present.index(old)] = new


_APPLY: dict[EditKind, Callable[[str, Edit], str]] = {
    EditKind.REQUIREMENT: _requirement,
    EditKind.INDEX: _index,
    EditKind.SOURCE: _source,
}
_EXPECT: dict[EditKind, Callable[[dict[str, Any], Edit], None]] = {
    EditKind.REQUIREMENT: _expect_requirement,
    EditKind.INDEX: _expect_index,
    EditKind.SOURCE: _expect_source,
}
