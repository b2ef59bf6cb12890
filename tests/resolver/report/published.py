"""Holding documents to the schemas that are published."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from stackfix.documents.document import dump
from stackfix.report.schemas import schema
from tests.conftest import FIXTURES

__all__ = ["FIRST", "valid"]

FIRST = {path.stem: path for path in (FIXTURES / "schemas/published").glob("*.json")}
"""The schemas as they were first published, by name."""


def valid(name: str, document: object) -> None:
    """Hold a document to today's schema, and to the one that was first published."""
    written: Any = json.loads(dump(document))
    for rules in (schema(name), json.loads(FIRST[name].read_text())):
        jsonschema.Draft202012Validator.check_schema(rules)
        jsonschema.validate(written, rules, cls=jsonschema.Draft202012Validator)
