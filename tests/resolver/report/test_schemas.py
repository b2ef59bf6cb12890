"""The published schemas: made from the types, and never stricter than what was published first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import inspect

from stackfix.report.schemas import DOCUMENTS, LATER, made_schema, schema
from tests.resolver.report.published import FIRST

Schema = dict[str, Any]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_files_are_what_the_types_say(name: str) -> None:
    assert schema(name) == made_schema(name), "run `make schemas`"


def test_every_document_has_a_schema_that_was_published_first() -> None:
    assert FIRST.keys() == DOCUMENTS.keys()


@pytest.mark.parametrize("name", FIRST)
def test_what_was_valid_first_is_valid_now(name: str) -> None:
    old, new = json.loads(FIRST[name].read_text()), schema(name)
    assert list(refusals(old, new, (old, new))) == []


def test_a_schema_that_asks_for_more_is_seen() -> None:
    old = json.loads(FIRST["plan-1"].read_text())
    new = schema("plan-1")
    new["properties"]["tried"]["minimum"] = 1
    new["required"].append("rebuilds")
    del new["$defs"]["move"]["properties"]["asked"]
    new["$defs"]["evidence"]["properties"]["kind"]["enum"].remove("reported")
    seen = {fault.partition(":")[0] for fault in refusals(old, new, (old, new))}
    assert seen >= {"$.tried", "$.rebuilds", "$.moves.items.asked"}
    assert "$.findings.items.evidence.items.kind" in seen


@pytest.mark.parametrize("name", FIRST)
def test_all_keys_of_the_first_schema_are_still_there(name: str) -> None:
    old, new = json.loads(FIRST[name].read_text()), schema(name)
    assert set(keys(old, old)) == set(keys(new, new)) - LATER_PLACES


LATER_PLACES: set[str] = set()
"""Places of keys that came after the first schemas."""


@pytest.mark.parametrize("kind", LATER)
def test_a_key_that_came_later_has_a_default_for_older_documents(kind: Any) -> None:
    told: Any = inspect.type_info(kind)
    defaults = {field.name: not field.required for field in told.fields}
    assert all(defaults[name] for name in LATER[kind])


_JSON_TYPES = {str: "string", int: "integer", bool: "boolean", type(None): "null"}


def alternatives(node: Schema, root: Schema) -> list[Schema]:
    """The simple schemas of which one has to hold: references, unions and lists of types undone."""
    if "$ref" in node:
        more = {key: value for key, value in node.items() if key not in {"$ref", "description"}}
        target = root["$defs"][node["$ref"].rpartition("/")[2]]
        return [one | more for one in alternatives(target, root)]
    if "allOf" in node:
        (base,) = node["allOf"]
        (whole,) = alternatives(base, root)
        added = node["properties"]
        return [
            whole
            | {
                "properties": whole["properties"] | added,
                "required": [*whole["required"], *node["required"]],
            }
        ]
    if "anyOf" in node:
        return [one for part in node["anyOf"] for one in alternatives(part, root)]
    if "const" in node or "enum" in node:
        values = node.get("enum", [node.get("const")])
        return [{"type": "null"} if one is None else {"value": one} for one in values]
    if isinstance(node.get("type"), list):
        return [{"type": one} if one == "null" else node | {"type": one} for one in node["type"]]
    return [node]


def refusals(
    old: Schema, new: Schema, roots: tuple[Schema, Schema], at: str = "$"
) -> Iterator[str]:
    """Places where the new schema refuses what the old one admits."""
    admitted = alternatives(new, roots[1])
    for one in alternatives(old, roots[0]):
        found = [list(_refused(one, other, roots, at)) for other in admitted]
        if [] not in found:
            yield from min(found, key=len)


def _refused(old: Schema, new: Schema, roots: tuple[Schema, Schema], at: str) -> Iterator[str]:
    if "value" in old or "value" in new:
        kind = _JSON_TYPES[type(old["value"])] if "value" in old else old.get("type")
        if old != new and ("value" in new or new.get("type") != kind):
            yield f"{at}: {old} is no {new}"
        return
    if "type" in new and old.get("type") != new["type"]:
        yield f"{at}: {old.get('type')} is no {new['type']}"
        return
    for limit in ("minimum", "minItems"):
        if new.get(limit, -1) > old.get(limit, -1):
            yield f"{at}: {limit}"
    if new.get("pattern") not in (None, old.get("pattern")):
        yield f"{at}: pattern"
    for name in set(new.get("required", ())) - set(old.get("required", ())):
        yield f"{at}.{name}: was not required"
    for name, inner in old.get("properties", {}).items():
        if name not in new.get("properties", {}):
            yield f"{at}.{name}: is gone"
            continue
        yield from refusals(inner, new["properties"][name], roots, f"{at}.{name}")
    for inner in ("items", "additionalProperties", "propertyNames"):
        if isinstance(new.get(inner), dict):
            yield from refusals(old.get(inner) or {}, new[inner], roots, f"{at}.{inner}")


def keys(node: Schema, root: Schema, at: str = "$") -> Iterator[str]:
    """The places of all keys that documents have."""
    for one in alternatives(node, root):
        for name, inner in one.get("properties", {}).items():
            yield f"{at}.{name}"
            yield from keys(inner, root, f"{at}.{name}")
        for inner in ("items", "additionalProperties"):
            if isinstance(one.get(inner), dict):
                yield from keys(one[inner], root, f"{at}[]")
