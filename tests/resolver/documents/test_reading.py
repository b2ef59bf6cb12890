"""Documents from anywhere: what is wrong is one line with its place, and cost is bounded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from stackfix.documents.document import Count, Digest, Document, dump
from stackfix.documents.reading import parse, read
from stackfix_knowledge.stack.packages import Role
from stackfix_lockfiles.errors import InputError


class Part(Document):
    """A part."""

    name: str
    roles: tuple[Role, ...] = ()


class Whole(Document):
    """A whole."""

    schema: Literal[1]
    parts: tuple[Part, ...] = ()
    count: Count = 0
    digests: dict[str, Digest | None] | None = None
    share: float | None = None


def parsed(text: str) -> Whole:
    return parse(text, Whole, Path("whole.json"), writer="make it")


def fault(text: str) -> str:
    with pytest.raises(InputError) as error:
        parsed(text)
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "schema: expected 1, the version this stackfix reads, got nothing"),
        ('{"schema": 2}', "schema: expected 1, the version this stackfix reads, got 2"),
        ('{"schema": true}', "schema: expected 1, the version this stackfix reads"),
        ("[]", "expected a JSON object, got a list"),
        ("null", "expected a JSON object, got null"),
        (
            '{"schema": 1, "parts": [{"name": "a"}, {}]}',
            "parts[1].name: expected a string, got nothing",
        ),
        (
            '{"schema": 1, "parts": [{"name": 3}]}',
            "parts[0].name: expected a string, got a whole number",
        ),
        (
            '{"schema": 1, "parts": [{"name": "a", "roles": ["x"]}]}',
            "parts[0].roles[0]: expected one of framework",
        ),
        ('{"schema": 1, "count": 1.5}', "count: expected a whole number of at least 0"),
        ('{"schema": 1, "count": -1}', "count: expected a whole number of at least 0"),
        ('{"schema": 1, "share": "all"}', "share: expected a number, got a string"),
        (
            '{"schema": 1, "digests": {"a": null, "b/c": "0"}}',
            "digests['b/c']: expected a sha256 in hexadecimal",
        ),
        ('{"schema": 1, "digests": {"a": 1}}', "digests['a']: expected a sha256 in hexadecimal"),
    ],
)
def test_a_fault_tells_the_place_what_was_expected_and_what_is_there(text: str, said: str) -> None:
    assert fault(text).startswith(f"whole.json: {said}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[" * 100_000,
        '{"schema": 1, "more": ' + "[" * 100_000,
        '{"schema": 1, "count": ' + "9" * 5000 + "}",
        '{"schema": 1, "count": 1' + "0" * 30 + "}",
        '{"schema": 1, "share": NaN}',
        '{"schema": 1, "share": Infinity}',
    ],
)
def test_what_no_command_writes_is_refused_as_that(text: str) -> None:
    assert fault(text) == "whole.json: expected the JSON that `make it` writes"


def test_keys_that_nobody_knows_are_passed_over() -> None:
    text = '{"schema": 1, "later": {"x": [1]}, "parts": [{"name": "a", "colour": "red"}]}'
    assert parsed(text) == Whole(schema=1, parts=(Part(name="a"),))


def test_what_is_quoted_is_printable_and_short() -> None:
    said = fault(json.dumps({"schema": 1, "parts": [{"name": "a", "roles": ["\x1b[31m" * 999]}]}))
    assert said.isprintable()
    assert len(said) < 1500


def test_a_name_that_is_no_text_survives() -> None:
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    text = dump(Whole(schema=1, parts=(Part(name=name),)))
    text.encode()
    assert parsed(text).parts[0].name == name


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    path = tmp_path / "whole.json"
    path.write_text('{"schema": 1}' + " " * (1 << 20))
    with pytest.raises(InputError, match="expected at most 1 MiB"):
        read(path, Whole, writer="make it", most=1 << 20)
    with pytest.raises(InputError, match="No such file"):
        read(tmp_path / "none.json", Whole, writer="make it", most=1 << 20)
