"""Whole logs of our own making, each with the answer that it must get (cases/*.toml)."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rtoml

from stackfix.diagnose import diagnose
from stackfix.diagnose.diagnosis import Diagnosis
from stackfix_knowledge.logs.signatures import LineRole

CASES: list[dict[str, Any]] = [
    case
    for path in sorted((Path(__file__).parent / "cases").glob("*.toml"))
    for case in rtoml.loads(path.read_text())["case"]
]


def each_line(before: bytes, after: bytes = b"") -> Callable[[bytes], bytes]:
    return lambda data: b"\n".join(before + line + after for line in data.split(b"\n"))


DRESSES: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "colours": each_line(b"\x1b[1;31m", b"\x1b[0m"),
    "a container runtime's times": each_line(b"2025-01-01T00:00:00.000000000Z stderr F "),
    "docker compose": each_line(b"trainer-1  | "),
    "gzip": gzip.compress,
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "broken encoding": each_line(b"", b" \xff\xfe\x80"),
    "after much that is fine": lambda data: b"epoch 1 loss 2.0 lr 1e-4\n" * 5000 + data,
}


def run(case: dict[str, Any], folder: Path, dress: Callable[[bytes], bytes]) -> Diagnosis:
    path = folder / "run.log"
    path.write_bytes(dress(case["log"].lstrip("\n").encode()))
    return diagnose([str(path)])


@pytest.mark.parametrize("dress", DRESSES.values(), ids=DRESSES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_log_gets_its_answer(
    case: dict[str, Any], dress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    found = run(case, tmp_path, dress)
    assert found.family.name == case["family"], found.why
    if "rank" in case:
        assert found.rank == case["rank"]
    if "cause" in case:
        assert case["cause"] in found.cause[0].text
    if "fix" in case:
        assert any(case["fix"] in remedy.text for remedy in found.remedies)
    if "unknown" in case:
        assert any(case["unknown"] in sentence for sentence in found.unknown)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_no_wrapper_is_named_as_the_cause(case: dict[str, Any], tmp_path: Path) -> None:
    found = run(case, tmp_path, DRESSES["plain"])
    assert all(event.role in (LineRole.CAUSE, LineRole.HANG) for event in found.cause)
    assert not set(map(id, found.cause)) & set(map(id, found.wrappers))


def test_names_are_unique() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES)
