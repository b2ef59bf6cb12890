"""JSON schemas made from the types of documents: what they say is what the types say.

Descriptions are the docstrings of types and attributes. All keys are required save those that
documents of older releases lack.
"""

from __future__ import annotations

import ast
import inspect as python
import re
import textwrap
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from msgspec import inspect

__all__ = ["schema_of"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_SIMPLE: dict[Any, str] = {
    inspect.StrType: "string",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.NoneType: "null",
}
_LIMITS = {"ge": "minimum", "pattern": "pattern", "min_length": "minItems"}
_CAPITAL = re.compile("(?<=[a-z])(?=[A-Z])")
_PYTHON_NAMES = {"None": "null", "True": "true", "False": "false"}


def schema_of(kind: type, title: str, later: Mapping[type, frozenset[str]]) -> dict[str, Any]:
    """The schema of one document; `later` has the keys that came after the first release."""
    maker = _Maker(later)
    whole = maker.object(inspect.type_info(kind))
    return {
        "$schema": _DIALECT,
        "title": title,
        **whole,
        **({"$defs": maker.shared} if maker.shared else {}),
    }


class _Maker:
    """Turns types into schemas; the objects in them are defined once, by the name of their type."""

    def __init__(self, later: Mapping[type, frozenset[str]]) -> None:
        self._later = later
        self.shared: dict[str, Any] = {}

    def object(self, kind: Any) -> dict[str, Any]:
        """An object with a key for each field."""
        later = self._later.get(kind.cls, frozenset())
        words = _attribute_words(kind.cls)
        made: dict[str, Any] = {"type": "object"}
        if kind.cls.__doc__:
            made["description"] = _words(kind.cls.__doc__)
        made["properties"] = {
            field.encode_name: self._of(field.type)
            | ({"description": words[field.name]} if field.name in words else {})
            for field in kind.fields
        }
        made["required"] = [field.encode_name for field in kind.fields if field.name not in later]
        made["additionalProperties"] = False
        return made

    def _of(self, kind: Any) -> dict[str, Any]:
        match kind:
            case inspect.Metadata():  # its title is for errors
                return self._of(kind.type)
            case inspect.StructType() | inspect.DataclassType():
                return self._shared(kind)
            case inspect.UnionType():
                return self._union(kind)
            case inspect.EnumType():
                return {"enum": [member.value for member in kind.cls]}
            case inspect.LiteralType():
                one, *more = kind.values
                return {"enum": [one, *more]} if more else {"const": one}
            case inspect.DictType():
                made: dict[str, Any] = {"type": "object"}
                if (keys := self._of(kind.key_type)) != {"type": "string"}:
                    made["propertyNames"] = keys
                if values := self._of(kind.value_type):
                    made["additionalProperties"] = values
                return made
            case inspect.ListType() | inspect.VarTupleType():
                return {"type": "array", "items": self._of(kind.item_type)} | _limits(kind)
            case inspect.AnyType():
                return {}
        return {"type": _SIMPLE[type(kind)]} | _limits(kind)

    def _union(self, kind: Any) -> dict[str, Any]:
        made = [self._of(one) for one in kind.types]
        if all("type" in one and isinstance(one["type"], str) for one in made):
            merged: dict[str, Any] = {}
            for one in made:
                merged |= one
            return merged | {"type": [one["type"] for one in made]}
        if all("enum" in one or one == {"type": "null"} for one in made):
            return {"enum": [value for one in made for value in one.get("enum", [None])]}
        return {"anyOf": made}

    def _shared(self, kind: Any) -> dict[str, Any]:
        name = _CAPITAL.sub("_", kind.cls.__name__.removesuffix("Document")).lower()
        if name not in self.shared:
            self.shared[name] = {}  # its place; types may hold each other
            self.shared[name] = self.object(kind)
        return {"$ref": f"#/$defs/{name}"}


def _limits(kind: Any) -> dict[str, Any]:
    return {
        key: value
        for name, key in _LIMITS.items()
        if (value := getattr(kind, name, None)) is not None
    }


def _attribute_words(cls: type) -> dict[str, str]:
    """The docstrings of a class's attributes, and of those that it inherits."""
    found: dict[str, str] = {}
    for one in reversed(cls.__mro__):
        if one.__module__.partition(".")[0] not in _OURS:
            continue
        (tree,) = ast.parse(textwrap.dedent(python.getsource(one))).body
        assert isinstance(tree, ast.ClassDef)
        for attribute, words in pairwise(tree.body):
            match attribute, words:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    found[name] = _words(text)
    return found


_OURS = ("stackfix", "stackfix_lockfiles", "stackfix_knowledge")


def _words(text: str) -> str:
    """A docstring on one line, with the names that JSON has for Python's."""
    line = " ".join(text.split())
    return re.sub(r"\b(None|True|False)\b", lambda name: _PYTHON_NAMES[name[0]], line)
