"""Keys, tables and items added to a TOML document that tomlkit has parsed, where people look.

tomlkit writes every byte back, but puts a new key below the comments that introduce the *next*
table, and hides a table with parts in several places behind a proxy. So places are found here in
the bodies: the lists of keys and items that tomlkit writes out. After a change of a body tomlkit's
own look-up by key is stale: parse anew for the next change. Strings of an array are spelled and
placed in the array's own style.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import AoT, Array, InlineTable, Item, Key, String, Table, Whitespace

from stackfix_lockfiles.edits.edit import toml_key
from stackfix_lockfiles.toml import TOKEN

__all__ = [
    "Body",
    "Place",
    "add_key",
    "add_table",
    "append",
    "find",
    "refill",
    "remove",
    "replace",
    "string",
]

Keys = tuple[str, ...]
Body = list[tuple[Key | None, Item]]


@dataclass(frozen=True, slots=True)
class Place:
    """An item of a document: `(key, item)` in the body that holds it."""

    path: Keys
    key: Key
    item: Item
    holder: Body
    dotted: bool
    """Whether it is written with a dotted key, or in a table that is."""

    @property
    def section(self) -> Body | None:
        """The body of a table that has a header, or may get one."""
        return self.item.value.body if isinstance(self.item, Table) and not self.dotted else None

    @property
    def implied(self) -> bool:
        """Whether only tables below it have headers."""
        return isinstance(self.item, Table) and self.item.is_super_table()


def find(document: TOMLDocument, path: Keys) -> Place | None:
    """Return what is at a path; of a table in several parts, the one with a header of its own."""
    found = [place for place in _places(document.body) if place.path == path]
    return next((place for place in found if not place.implied), found[0] if found else None)


def add_key(document: TOMLDocument, table: Keys, name: str, value: str) -> None:
    """Add `name = value` (TOML text) at the end of a table, which is made if there is none."""
    found = (find(document, table[:depth]) for depth in range(1, len(table) + 1))
    present = [place for place in found if place is not None]
    owners = [p for p in present if p.section is not None or isinstance(p.item, InlineTable)]
    owner = owners[-1] if owners else None
    rest = (*table[len(owner.path) if owner else 0 :], name)
    if owner is not None and isinstance(owner.item, InlineTable):
        for part in reversed(rest[1:]):
            value = f"{{ {toml_key(part)} = {value} }}"
        _append_inline(owner.item, rest[0], tomlkit.value(value))
    elif len(present) < len(table) and (not present or owner is present[-1]):
        add_table(document, table, f"{toml_key(name)} = {value}\n")
    else:
        body = document.body if owner is None or owner.section is None else owner.section
        if owner is not None and owner.implied:
            body[:0] = _cut(_above(document, owner.item))
            owner.item.trivia.indent = "\n" if document.body[0][1] is not owner.item else ""
        at, _ = _own(body)
        body.insert(at, (tomlkit.key(rest if len(rest) > 1 else name), tomlkit.value(value)))


def _append_inline(table: InlineTable, name: str, item: Item) -> None:
    """Append to an inline table, before the space that its closing brace may follow."""
    body = table.value.body
    space = [body.pop()] if body and isinstance(body[-1][1], Whitespace) else []
    table.append(name, item)
    body.extend(space)


def add_table(document: TOMLDocument, keys: Keys, entries: str, *, several: bool = False) -> None:
    """Add a section (`[keys]`, or `[[keys]]` if there may be several) with these lines.

    It goes after the last section of its kind, else of its parent, else to the end: what other
    tools have below `tool` is no neighbour.
    """
    new = tomlkit.table(is_super_table=False)
    new.trivia.indent = "\n"
    new.value.body.extend(tomlkit.parse(entries).body)
    places = list(_places(document.body))
    same = [place.item for place in places if place.path == keys]
    if same and isinstance(same[-1], AoT):
        new.value.body.extend(_cut(_last(same[-1])))
        same[-1].body.append(new)
        return
    parents = [place for place in places if place.path == keys[:-1] and place.section is not None]
    body, rest = document.body, keys
    if parents and (home := parents[-1].section) is not None and keys[:-1] != ("tool",):
        new.value.body.extend(_cut(_last(parents[-1].item)))
        body, rest = home, keys[-1:]
    elif not (text := document.as_string()).strip() or text.endswith("\n\n"):
        new.trivia.indent = ""
    item: Item = AoT([new]) if several else new
    for part in reversed(rest[1:]):
        outer = tomlkit.table(is_super_table=True)
        outer.value.body.append((tomlkit.key(part), item))
        item = outer
    body.append((tomlkit.key(rest[0]), item))


def replace(place: Place, item: Item) -> None:
    """Put another item under a key; the comment beside it stays."""
    old = place.item
    while isinstance(old, Table) and place.dotted:  # the comment stands beside the value
        old = old.value.body[-1][1]
    _take_trivia(item, old)
    at = next(at for at, (_, old) in enumerate(place.holder) if old is place.item)
    place.holder[at] = (tomlkit.key(place.path[-1]) if place.key.is_dotted() else place.key, item)


def refill(body: Body, entries: str) -> None:
    """Give a section these lines as entries; a key that stays keeps its place and comment."""
    new = {key.key: item for key, item in tomlkit.parse(entries).body if key is not None}
    introduction = _cut(body)
    kept: Body = []
    for key, item in body:
        if key is None:
            kept.append((key, item))
        elif key.key in new:
            kept.append((key, new.pop(key.key)))
            _take_trivia(kept[-1][1], item)
    body[:] = [*kept, *((tomlkit.key(name), item) for name, item in new.items()), *introduction]


def remove(document: TOMLDocument, place: Place | None, position: int | None = None) -> None:
    """Take out what is at a place, or one of several tables there; then all that this leaves empty.

    Blank lines and comments behind it, which introduce what comes next, stay.
    """
    if place is None:
        raise LookupError("nothing to remove")
    item = place.item
    if position is not None and isinstance(item, AoT) and len(item.body) > 1:
        _hand_over(document, item.body[position])
        del item.body[position]
        return
    if position is not None and isinstance(item, Array) and len(item) > 1:
        del item[position]
        return
    _hand_over(document, item)
    parent = find(document, place.path[:-1]) if len(place.path) > 1 else None
    if parent is not None and isinstance(parent.item, InlineTable):
        parent.item.remove(place.path[-1])
        empty = not parent.item
        body = parent.item.value.body
        keyed = [at for at, (key, _) in enumerate(body) if key is not None]
        if keyed:  # the comma beside it, and one of two spaces
            del body[keyed[-1] + 1 : -1]
            del body[1 : keyed[0]]
    else:
        place.holder[:] = [entry for entry in place.holder if entry[1] is not item]
        empty = parent is not None and not any(key for key, _ in place.holder)
    if parent is not None and empty and len(parent.path) > 2:  # of tool.uv on, all is uv's
        remove(document, parent)


def _hand_over(document: TOMLDocument, item: Item) -> None:
    """Give the section above an item what introduces the section below it.

    That takes the place of the blank lines above the item.
    """
    sections = list(_sections(item))
    if not sections:
        return
    introduction = _cut(sections[-1].value.body)
    above = _above(document, item)
    start, end = _own(above)
    blank = end
    while blank > start and isinstance(above[blank - 1][1], Whitespace):
        blank -= 1
    tables = (below for key, below in document.body if key is not None and not key.is_dotted())
    last = [section for table in tables for section in _sections(table)][-1]
    if last is sections[-1] or (introduction and isinstance(introduction[0][1], Whitespace)):
        start = blank
    else:
        start = end
    above[start:end] = introduction


def _take_trivia(item: Item, old: Item) -> None:
    for name in ("indent", "comment_ws", "comment", "trail"):
        setattr(item.trivia, name, getattr(old.trivia, name))


def _own(body: Body) -> tuple[int, int]:
    """Return where a table's own entries end, and where the tables below it begin.

    What is between are blank lines and comments, which introduce what comes next.
    """
    end = 0
    for at, (key, item) in enumerate(body):
        if key is not None:
            if isinstance(item, AoT | Table) and not key.is_dotted():
                return end, at
            end = at + 1
    return end, len(body)


def _cut(body: Body) -> Body:
    """Take the blank lines and comments that introduce what comes next."""
    start, end = _own(body)
    cut = body[start:end]
    del body[start:end]
    return cut


def _places(body: Body, path: Keys = (), dotted: bool = False) -> Iterator[Place]:
    """Yield every keyed item in the order of the text."""
    for key, item in body:
        if key is None:
            continue
        below = dotted or key.is_dotted()
        place = Place((*path, *(part.key for part in key)), key, item, body, below)
        yield place
        for table in item.body if isinstance(item, AoT) else [item]:
            if isinstance(table, Table | InlineTable):
                yield from _places(table.value.body, place.path, below)


def _sections(item: Item) -> Iterator[Table]:
    """Yield the tables with a header from this item on down, in the order of the text."""
    for table in item.body if isinstance(item, AoT) else [item]:
        if isinstance(table, Table):
            if not table.is_super_table():
                yield table
            for key, below in table.value.body:
                if key is not None and not key.is_dotted():
                    yield from _sections(below)


def _last(item: Item) -> Body:
    return list(_sections(item))[-1].value.body


def _above(document: TOMLDocument, item: Item) -> Body:
    """Return the body of the section whose text ends where that of a table's sections begins."""
    first = next(_sections(item))
    above = document.body
    for key, below in document.body:
        if key is not None and not key.is_dotted():
            for table in _sections(below):
                if table is first:
                    return above
                above = table.value.body
    return above


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
