"""What the JSON promises: the published schemas hold, and say all that the plan knows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from stackfix.documents.document import dump
from stackfix.documents.reading import parse
from stackfix.host.document import host_document
from stackfix.plan.plan import Plan, VariantChange
from stackfix.report.plan import PlanDocument, plan_document
from tests.resolver.host.test_document import HOST
from tests.resolver.report import examples
from tests.resolver.report.published import valid

PLANS = [examples.PLANNED, examples.NOTHING, examples.NO_GPU, examples.IMPOSSIBLE]


def document_of(plan: Plan) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(dump(plan_document(plan)))
    return document


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: str(plan.status))
def test_a_plan_keeps_to_its_schema(plan: Plan) -> None:
    valid("plan-1", document_of(plan))


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: str(plan.status))
def test_a_plan_is_read_as_it_was_written(plan: Plan) -> None:
    document = plan_document(plan)
    assert parse(dump(document), PlanDocument, Path("p.json"), writer="a test") == document


def test_a_host_keeps_to_its_schema() -> None:
    valid("host-1", host_document(HOST))


@pytest.mark.parametrize("key", ["status", "targets", "findings", "moves", "knowledge"])
def test_the_schema_misses_what_is_missing(key: str) -> None:
    document = document_of(examples.PLANNED)
    del document[key]
    with pytest.raises(jsonschema.ValidationError):
        valid("plan-1", document)


def test_the_schema_refuses_what_it_does_not_know() -> None:
    with pytest.raises(jsonschema.ValidationError):
        valid("plan-1", document_of(examples.PLANNED) | {"extra": 1})


def test_a_finding_names_its_target_by_the_targets_label() -> None:
    document = document_of(examples.PLANNED)
    labels = {target["label"] for target in document["targets"]}
    assert {finding["target"] for finding in document["findings"]} <= labels


def test_a_move_says_from_to_why_and_where() -> None:
    move = document_of(examples.PLANNED)["moves"][1]
    assert (move["package"], move["from"], move["to"]) == ("torch", "2.7.1", "2.8.0")
    assert (move["because"], move["index"]) == (f"SF101: {examples.NO_CODE.message}", "cu128")
    assert move["edits"][0]["old"] == "torch==2.7.1"
    assert move["edits"][0]["line"] == 1


def test_evidence_keeps_its_digest_and_words() -> None:
    measured, documented = document_of(examples.PLANNED)["findings"][0]["evidence"]
    assert measured["sha256"] == "ab" * 32
    assert documented["words"] == "9.5.1: up to 9.0"


def test_a_move_says_which_variant_takes_the_place_of_which() -> None:
    variant = VariantChange(before="jax[cuda13]", after="jax[cuda12]")
    move = replace(examples.PLANNED.moves[1], variant=variant)
    document = document_of(replace(examples.PLANNED, moves=(move,)))
    assert document["moves"][0]["variant"] == {"from": "jax[cuda13]", "to": "jax[cuda12]"}
    valid("plan-1", document)
    assert document_of(examples.PLANNED)["moves"][1]["variant"] is None
