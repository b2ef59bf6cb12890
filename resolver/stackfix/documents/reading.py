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
        raise _fault(path, kind, str(error)) from None


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


def _fault(path: Path, kind: type, message: str) -> InputError:
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
    steps = [step[1] or step[2] for step in _STEP.finditer(place)]
    expected = f"expected {_expected(inspect.type_info(kind), steps)}"
    if steps == ["schema"]:
        expected += ", the version this stackfix reads"
    return InputError(
        path, f"{expected}, got {found}" if found else expected, place=place.lstrip(".") or None
    )


def _expected(kind: Any, steps: list[str]) -> str:
    """What a type takes at the end of a path, in words."""
    if isinstance(kind, inspect.UnionType):
        kinds = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
        return " or ".join(_expected(one, steps) for one in kinds)
    if steps:
        if isinstance(kind, inspect.StructType | inspect.DataclassType):
            inner = next(f.type for f in kind.fields if f.encode_name == steps[0])
        else:
            inner = kind.value_type if isinstance(kind, inspect.DictType) else kind.item_type
        return _expected(inner, steps[1:])
    if isinstance(kind, inspect.EnumType):
        return "one of " + ", ".join(str(member.value) for member in kind.cls)
    if isinstance(kind, inspect.LiteralType):
        return " or ".join(map(str, kind.values))
    words = _WORDS.get(type(kind).__name__, "another value")
    if getattr(kind, "ge", None) is not None:
        words += f" of at least {kind.ge}"
    if getattr(kind, "pattern", None):
        words += f" that matches {kind.pattern}"
    return words


_WORDS = {
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
