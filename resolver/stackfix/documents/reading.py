"""Reading documents, which may come from anywhere: bounded, checked by type, a line for a fault."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from stackfix_lockfiles.errors import InputError

__all__ = ["parse", "read", "read_bytes"]

T = TypeVar("T")

_MOST_DIGITS = 18
"""Of a number: more than bytes of memory or seconds of uptime ever have."""


def read(path: Path, kind: type[T], *, writer: str, most: int) -> T:
    """The document of type `kind` in a file of at most `most` bytes, written by `writer`.

    Unknown keys are passed over. Raises InputError, which names the file, the place in it, what was
    expected there and what was found: `host.json: cards[0].memory: expected a whole number, got a
    string`.
    """
    return parse(read_bytes(path, most), kind, path, writer=writer)


def read_bytes(path: Path, most: int) -> bytes:
    """The content of a file; InputError where it cannot be read or is longer than `most`."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise InputError(path, f"expected a readable file ({error.strerror})") from None
    if len(data) > most:
        raise InputError(path, f"expected at most {most >> 20} MiB")
    return data


def parse(data: bytes | str, kind: type[T], path: Path, *, writer: str) -> T:
    """As `read`, of content that was read; `path` only names it in errors."""
    try:
        tree = json.loads(data, parse_int=_integer, parse_constant=_integer)
    except (ValueError, RecursionError):
        raise InputError(path, f"expected the JSON that `{writer}` writes") from None
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as error:
        raise _fault(path, kind, tree, str(error)) from None


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > _MOST_DIGITS:
        raise ValueError("no document holds such a number")
    return int(digits)


_MESSAGE = re.compile(r"(.*?)(?: - at `\$([^`]*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(\w+)`")
_GOT = re.compile(r"Expected `[^`]*`, got `(\w+)`")
_NO_MEMBER = re.compile(r"Invalid enum value (.*)", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
_FOUND = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "array": "a list",
    "object": "a JSON object",
}


def _fault(path: Path, kind: type, tree: Any, message: str) -> InputError:
    """msgspec tells the place and what is there; what was expected there, the type tells better."""
    match = _MESSAGE.fullmatch(message)
    said, place = (match[1], match[2] or "") if match else (message, "")
    found = ""
    if missing := _MISSING.fullmatch(said):
        place, found = f"{place}.{missing[1]}", "nothing"
    elif got := _GOT.fullmatch(said):
        found = _FOUND.get(got[1], got[1])
    elif no_member := _NO_MEMBER.fullmatch(said):
        found = no_member[1]
    named, at = "", inspect.type_info(kind)
    for name, index in _STEP.findall(place):
        at = _inside(at, name)
        if index == "...":  # some key of a mapping: msgspec does not tell which
            index = next((key for key in tree if not _fits(tree[key], at)), index)
        named += f".{name}" if name else f"[{index if isinstance(tree, list) else repr(index)}]"
        tree = tree[int(index)] if isinstance(tree, list) else tree.get(name or index)
    expected = f"expected {_words(at)}"
    if named == ".schema":
        expected += ", the version this stackfix reads"
    return InputError(
        path, f"{expected}, got {found}" if found else expected, place=named.lstrip(".") or None
    )


def _inside(kind: Any, name: str) -> Any:
    """The type of a field, or without a name that of an item."""
    if isinstance(kind, inspect.Metadata):
        return _inside(kind.type, name)
    if isinstance(kind, inspect.UnionType):
        return next(
            _inside(one, name) for one in kind.types if not isinstance(one, inspect.NoneType)
        )
    if name:
        return next(field.type for field in kind.fields if field.encode_name == name)
    return kind.value_type if isinstance(kind, inspect.DictType) else kind.item_type


def _told(kind: Any) -> list[Any]:
    """What a union takes beside null."""
    return [one for one in kind.types if not isinstance(one, inspect.NoneType)]


def _fits(value: object, kind: Any) -> bool:
    """Whether a value of a mapping is what it should be, as far as mappings of text go."""
    match kind:
        case inspect.Metadata():
            return _fits(value, kind.type)
        case inspect.UnionType():
            return any(_fits(value, one) for one in kind.types)
        case inspect.NoneType():
            return value is None
        case inspect.StrType():
            return isinstance(value, str) and re.search(kind.pattern or "", value) is not None
    return True


def _words(kind: Any) -> str:
    """What a type takes, in words; null is not told of."""
    if isinstance(kind, inspect.Metadata):
        title = (kind.extra_json_schema or {}).get("title")
        return str(title) if title else _words(kind.type)
    if isinstance(kind, inspect.UnionType):
        return " or ".join(map(_words, _told(kind)))
    if isinstance(kind, inspect.EnumType):
        return "one of " + ", ".join(str(member.value) for member in kind.cls)
    if isinstance(kind, inspect.LiteralType):
        return " or ".join(map(str, kind.values))
    least = getattr(kind, "ge", None)
    words = _KINDS.get(type(kind).__name__, "another value")
    return words if least is None else f"{words} of at least {least}"


_KINDS = {
    "StrType": "a string",
    "IntType": "a whole number",
    "FloatType": "a number",
    "BoolType": "true or false",
    "DateType": "a date",
    "StructType": "a JSON object",
    "DataclassType": "a JSON object",
    "DictType": "a JSON object",
    "ListType": "a list",
    "VarTupleType": "a list",
}
