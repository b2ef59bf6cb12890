"""A target as a document, there and back."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix.documents.document import dump
from stackfix.documents.reading import parse
from stackfix.documents.target import TargetDocument
from stackfix.model.target import Target
from stackfix_knowledge.hardware import ComputeCapability, DriverVersion
from stackfix_lockfiles.errors import InputError

DRIVERS = st.none() | st.from_regex(r"[1-9]\d{2}(\.\d{1,3}){0,2}", fullmatch=True).map(
    DriverVersion.parse
)
TEXTS = st.none() | st.text()
TARGETS = st.builds(
    Target,
    gpu=st.text(min_size=1),
    capability=st.builds(ComputeCapability, st.integers(1, 99), st.integers(0, 9)),
    count=st.integers(1, 1000),
    driver=DRIVERS,
    compat=DRIVERS,
    platform=st.text(min_size=1),
    memory=st.none() | st.integers(0, 1 << 48),
    segment=TEXTS,
    name=TEXTS,
)


def there_and_back(target: Target) -> Target:
    text = dump(TargetDocument.of(target))
    return parse(text, TargetDocument, Path("target.json"), writer="a test").target()


@given(TARGETS)
def test_every_field_of_a_target_survives(target: Target) -> None:
    back = there_and_back(target)
    for field in fields(Target):
        assert getattr(back, field.name) == getattr(target, field.name), field.name
    assert back.label == target.label


def test_a_field_that_targets_get_is_no_stranger_to_documents() -> None:
    names = {field.name for field in fields(Target)}
    assert set(TargetDocument.__struct_fields__) == names | {"label"}


def test_a_target_of_an_older_release_has_no_compat() -> None:
    document = json.loads(dump(TargetDocument.of(Target(gpu="L4", capability=_ADA))))
    del document["compat"]
    read = parse(json.dumps(document), TargetDocument, Path("t.json"), writer="a test")
    assert read.target() == Target(gpu="L4", capability=_ADA)


_ADA = ComputeCapability(8, 9)


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("count", 0, "count: expected a whole number of at least 1"),
        ("count", True, "count: expected a whole number of at least 1, got true or false"),
        ("capability", "sm_89", 'capability: expected a compute capability such as "12.0"'),
        ("driver", 550, "driver: expected a string, got a whole number"),
    ],
)
def test_what_is_no_target_is_refused_with_its_place(key: str, value: object, fault: str) -> None:
    document = json.loads(dump(TargetDocument.of(Target(gpu="L4", capability=_ADA))))
    with pytest.raises(InputError) as error:
        parse(json.dumps({**document, key: value}), TargetDocument, Path("t.json"), writer="x")
    assert str(error.value).startswith(f"t.json: {fault}")
