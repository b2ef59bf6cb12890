"""Applying edits to a file's text with tomlkit, and reading back what came out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tomlkit
from tomlkit import TOMLDocument as Document
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Array, InlineTable, String, Table

from stackfix_lockfiles.edits import document as layout
from stackfix_lockfiles.edits.edit import Edit, EditKind, toml_key, toml_text
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.toml import loads

__all__ = ["apply_to_text"]

Values = dict[str, Any]

MAX_CHARACTERS = 256 << 10
"""Beyond it tomlkit takes seconds for each edit."""

_UNEXPECTED = (
    *(TOMLKitError, ValueError, LookupError, TypeError, AttributeError),
    *(AssertionError, RuntimeError, StopIteration),
)
"""What an unusual layout makes tomlkit, or the changes built on it, raise."""


def apply_to_text(text: str, edits: Iterable[Edit], name: str) -> str:
    """Return the text with the edits applied in order.

    Raises:
        InputError: the file is too large, what an edit replaces is not there, or the result would
            not say exactly what was meant (an unusual layout): the message says what to write by
            hand.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(name, f"expected at most {MAX_CHARACTERS >> 10} kB to edit, found more")
    document: Document | None = None
    for edit in edits:
        before = loads(text, name)
        try:
            text, document = _applied(text, before, edit, document)
            if edit.kind is not EditKind.REQUIREMENT or edit.old is None or edit.new is None:
                document = None  # what was added or removed is laid out as parsed only by parsing
        except _Gone as gone:
            raise InputError(name, gone.expected, place=edit.table, line=edit.line) from None
        except (InputError, *_UNEXPECTED) as error:
            raise InputError(name, _by_hand(edit), place=edit.table, line=edit.line) from error
    return text


class _Gone(Exception):
    """The file does not hold what the edit replaces."""

    def __init__(self, expected: str) -> None:
        super().__init__(expected)
        self.expected = expected


def _by_hand(edit: Edit) -> str:
    what = f"{edit.package} = {edit.new}" if edit.package else edit.new
    if edit.new is None:
        return f"expected a layout that can be edited; please remove {edit.old!r} by hand"
    return f"expected a layout that can be edited; please write {what!r} by hand"


def _applied(
    text: str, before: Values, edit: Edit, parsed: Document | None
) -> tuple[str, Document]:
    """Return the changed text and its document. `parsed`: that of `text`, where it is at hand."""
    wanted = copy.deepcopy(before)
    _EXPECT[edit.kind](wanted, edit)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    windows = text.count("\r\n") == text.count("\n") > 0
    plain = text.removeprefix(mark)
    if windows:  # tomlkit keeps these line ends, but does not add any
        plain = plain.replace("\r\n", "\n")
    end = "" if plain.endswith("\n") or edit.old is not None else "\n"
    plain += end  # so that lines can be added
    document = tomlkit.parse(plain) if parsed is None else parsed
    if tomlkit.dumps(document) != plain:
        raise ValueError("tomlkit would change what is not edited")
    span = _APPLY[edit.kind](document, before, edit)
    changed = tomlkit.dumps(document)
    if span is not None and not _differs_in(span, plain, changed):
        raise ValueError("more than the edited string would change")
    if end and changed.endswith(plain[plain.rfind("\n", 0, -1) + 1 :]):
        changed = changed[:-1]
    changed = mark + (changed.replace("\n", "\r\n") if windows else changed)
    after = loads(changed, "the result")
    if edit.new is None:  # a table left empty goes; whether its header stays says nothing
        wanted, after = (_pruned(values, edit.keys) for values in (wanted, after))
    if after != wanted:
        raise ValueError("the result would not say what was meant")
    return changed, document


def _differs_in(span: tuple[str, str], text: str, changed: str) -> bool:
    """Whether the one difference is that the first of `span` became the second."""
    old, new = span
    pairs = enumerate(zip(text, changed, strict=False))
    first = next((at for at, (one, other) in pairs if one != other), len(text))
    return any(
        text.startswith(old, at) and text[:at] + new + text[at + len(old) :] == changed
        for at in range(max(0, first - len(old)), first + 1)
    )


def _position(values: list[Any], edit: Edit) -> int:
    """Return where the old value is; of equal ones, that nearest to where it was."""
    found = [index for index, value in enumerate(values) if value == edit.old]
    if not found:
        raise _Gone(f"expected {edit.old!r}, which is not there: the file changed since")
    return min(found, key=lambda index: abs(index - (edit.index or 0)))


def _array(values: Values, keys: tuple[str, ...]) -> list[Any]:
    value: Any = values
    for key in keys:
        value = value[key] if isinstance(value, dict) and key in value else None
        if value is None:
            raise _Gone(f"expected an array at {'.'.join(keys)}: the file changed since")
    return value if isinstance(value, list) else [value]


def _requirement(document: Document, before: Values, edit: Edit) -> tuple[str, str] | None:
    place = layout.find(document, edit.keys)
    array = tomlkit.array() if place is None else place.item
    if not isinstance(array, Array):
        raise TypeError("no array")
    if edit.old is None:
        comment = " ".join(edit.why.split()) if edit.comment else ""
        like = [item for item in array if isinstance(item, String)][-1:]
        new = layout.string(str(edit.new), *like)
        layout.append(array, new, comment if comment.isprintable() else "")
        if place is None:
            layout.add_key(document, edit.keys[:-1], edit.keys[-1], array.as_string())
        return None
    position = _position(_array(before, edit.keys), edit)
    if edit.new is None:
        del array[position]
        return None
    old, new = array[position], layout.string(edit.new, array[position])
    array[position] = new
    return old.as_string(), new.as_string()


def _index(document: Document, before: Values, edit: Edit) -> None:
    if edit.new is None:
        place = layout.find(document, edit.keys)
        layout.remove(document, place, _position_of(_array(before, edit.keys), edit))
        return
    new = str(edit.new)
    place, parent = (layout.find(document, keys) for keys in (edit.keys, edit.keys[:-1]))
    if place is not None and isinstance(place.item, Array):
        layout.append(place.item, tomlkit.value(new))
    elif parent is not None and parent.section is None:
        layout.add_key(document, edit.keys[:-1], edit.keys[-1], f"[{new}]")
    else:
        layout.add_table(document, edit.keys, _lines(new), several=True)


def _conflict(document: Document, _: Values, edit: Edit) -> None:
    new = str(edit.new)
    place = layout.find(document, edit.keys)
    if place is None:
        layout.add_key(document, edit.keys[:-1], edit.keys[-1], f"[{new}]")
    elif isinstance(place.item, Array):
        layout.append(place.item, tomlkit.value(new))
    else:
        raise TypeError("no array")


def _source(document: Document, before: Values, edit: Edit) -> None:
    new, package = str(edit.new), str(edit.package)
    place = layout.find(document, (*edit.keys, package))
    if edit.new is None:
        present = _table(before, edit.keys)[package]
        several = isinstance(present, list)
        layout.remove(document, place, _position_of(present, edit) if several else None)
    elif place is None:
        layout.add_key(document, edit.keys, package, new)
    elif edit.old is None:
        _beside(document, place, new)
    else:
        _instead(place, _table(before, edit.keys)[package], edit)


def _beside(document: Document, place: layout.Place, new: str) -> None:
    """Add a source beside the one, or those, that a package has."""
    if isinstance(place.item, Array):
        layout.append(place.item, tomlkit.value(new))
        return
    if isinstance(place.item, InlineTable) or place.dotted:
        inline = isinstance(place.item, InlineTable)
        old = place.item.as_string() if inline else toml_text(place.item.unwrap())
        layout.replace(place, tomlkit.value(f"[\n    {old},\n    {new},\n]"))
        return
    if isinstance(place.item, Table):
        layout.replace(place, AoT([place.item]))
    layout.add_table(document, place.path, _lines(new), several=True)


def _instead(place: layout.Place, present: Any, edit: Edit) -> None:
    """Replace a package's source: the only one, one of several, or all of them."""
    old, new = _value(str(edit.old)), str(edit.new)
    if present == old:
        if isinstance(place.item, AoT):
            raise TypeError("several sections to become one")
        if place.section is not None:
            layout.refill(place.section, _lines(new))
        else:
            layout.replace(place, tomlkit.value(new))
    elif isinstance(place.item, AoT):
        layout.refill(place.item.body[present.index(old)].value.body, _lines(new))
    elif isinstance(place.item, Array):
        place.item[present.index(old)] = tomlkit.value(new)


def _position_of(tables: list[Any], edit: Edit) -> int:
    """Return where the table that an edit takes out is among several."""
    old = _value(str(edit.old))
    found = [position for position, table in enumerate(tables) if table == old]
    if not found:
        raise _Gone(f"expected {edit.old!r}, which is not there: the file changed since")
    return min(found, key=lambda position: abs(position - (edit.index or 0)))


def _pruned(values: Values, keys: tuple[str, ...]) -> Values:
    """The values without what is empty at these keys and above."""
    pruned = copy.deepcopy(values)
    for depth in range(len(keys), 0, -1):
        parent: Any = pruned
        for key in keys[: depth - 1]:
            parent = parent.get(key, {})
        if isinstance(parent, dict) and parent.get(keys[depth - 1]) in ({}, []):
            del parent[keys[depth - 1]]
    return pruned


def _value(text: str) -> Any:
    return loads(f"value = {text}", "the edit")["value"]


def _lines(table: str) -> str:
    """Return the entries of an inline table as lines of a section."""
    entries = _value(table).items()
    return "".join(f"{toml_key(key)} = {toml_text(value)}\n" for key, value in entries)


def _table(values: Values, keys: tuple[str, ...]) -> Values:
    for key in keys:
        values = values.setdefault(key, {})
    return values


def _expect_requirement(values: Values, edit: Edit) -> None:
    if edit.old is None:
        _table(values, edit.keys[:-1]).setdefault(edit.keys[-1], []).append(edit.new)
        return
    items = _array(values, edit.keys)
    position = _position(items, edit)
    items[position : position + 1] = [] if edit.new is None else [edit.new]


def _expect_index(values: Values, edit: Edit) -> None:
    table = _table(values, edit.keys[:-1])
    if edit.new is None:
        present = _array(values, edit.keys)
        del present[_position_of(present, edit)]
        return
    table.setdefault(edit.keys[-1], []).append(_value(str(edit.new)))


def _expect_source(values: Values, edit: Edit) -> None:
    table, package = _table(values, edit.keys), str(edit.package)
    present = table.get(package)
    if edit.new is None:
        several = present if isinstance(present, list) else [present]
        del several[_position_of(several, edit)]
        if present is not several or not several:
            del table[package]
        return
    new = _value(edit.new)
    several = present if isinstance(present, list) else [present]
    if edit.old is None:
        table[package] = new if present is None else [*several, new]
        return
    old = _value(edit.old)
    if present == old:
        table[package] = new
    elif isinstance(present, list) and old in present:
        present[present.index(old)] = new
    else:
        raise _Gone(f"expected {edit.old!r}, which is not there: the file changed since")


_APPLY: Mapping[EditKind, Callable[[Document, Values, Edit], tuple[str, str] | None]] = {
    EditKind.REQUIREMENT: _requirement,
    EditKind.INDEX: _index,
    EditKind.SOURCE: _source,
    EditKind.CONFLICT: _conflict,
}
"""Change the document; the old and new text of a string that only was replaced."""

_EXPECT: Mapping[EditKind, Callable[[Values, Edit], None]] = {
    EditKind.REQUIREMENT: _expect_requirement,
    EditKind.INDEX: _expect_index,
    EditKind.SOURCE: _expect_source,
    EditKind.CONFLICT: _expect_index,
}
"""Change the values as the edit means it."""
