"""Faults in a facts file are reported in one line: file, place, what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix_knowledge.evidence import EvidenceKind
from stackfix_knowledge.reader import Entry, FactsError, read_file


def entry(**data: object) -> Entry:
    return Entry(data, "own.toml", "gpus[2]")


def test_an_error_names_file_place_and_expectation() -> None:
    with pytest.raises(FactsError) as caught:
        entry(capability="12").capability("capability")
    assert str(caught.value) == (
        "own.toml: gpus[2].capability: expected a compute capability such as \"12.0\", not '12'"
    )


def test_a_missing_text_is_named() -> None:
    with pytest.raises(FactsError, match=r"gpus\[2\]\.name: expected a text"):
        entry().text("name")


@pytest.mark.parametrize(
    ("read", "data"),
    [
        ("version", {"key": "one point two"}),
        ("specifiers", {"key": ">>2"}),
        ("driver", {"key": "R570"}),
        ("date", {"key": "yesterday"}),
        ("integer", {"key": "5"}),
        ("integer", {"key": True}),
        ("flag", {"key": "yes"}),
        ("texts", {"key": 5}),
        ("texts", {"key": ["a", 5]}),
        ("mapping", {"key": []}),
    ],
)
def test_values_of_the_wrong_kind_are_refused(read: str, data: dict[str, object]) -> None:
    with pytest.raises(FactsError, match="expected"):
        getattr(entry(**data), read)("key")


def test_a_misspelt_key_is_refused() -> None:
    with pytest.raises(FactsError, match=r"gpus\[2\]\.capabilty: expected one of the keys"):
        entry(capabilty="12.0").only("capability", "names")


def test_an_array_entry_knows_its_place() -> None:
    inner = list(entry(names=[{"a": 1}, {"a": 2}]).entries("names"))
    assert [item.place for item in inner] == ["gpus[2].names[0]", "gpus[2].names[1]"]


def test_one_text_counts_as_a_list_of_one() -> None:
    assert entry(source="nvidia").texts("source") == ("nvidia",)


def test_evidence_is_found_by_its_name() -> None:
    sources = Entry(
        {"sources": {"doc": {"kind": "documented", "where": "a page", "words": "so it is"}}}, "f"
    ).sources()
    evidence = entry(source="doc").evidence(sources)
    assert [(item.kind, item.words) for item in evidence] == [(EvidenceKind.DOCUMENTED, "so it is")]


def test_no_evidence_no_fact() -> None:
    with pytest.raises(FactsError, match="source: expected the name of at least one"):
        entry().evidence({})


def test_evidence_must_exist() -> None:
    with pytest.raises(FactsError, match=r"expected a name under \[sources\], not 'doc'"):
        entry(source="doc").evidence({})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a = ", "valid TOML"),
        (b"a = 1\na = 2", "valid TOML"),
        (b"\xff\xfe", "UTF-8 text"),
    ],
)
def test_a_file_that_is_no_toml(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(content)
    with pytest.raises(FactsError, match=expected) as caught:
        read_file(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FactsError, match="expected a readable file"):
        read_file(tmp_path / "none.toml")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FactsError, match="expected a readable file"):
        read_file(tmp_path)


def test_an_enormous_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    with path.open("wb") as file:
        file.truncate(65 << 20)
    with pytest.raises(FactsError, match="at most 64 MiB"):
        read_file(path)
