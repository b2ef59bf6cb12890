"""Hostile and broken logs: always an answer, never a traceback, nothing rendered."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

import pytest
import rtoml
from hypothesis import given, settings
from hypothesis import strategies as st

from stackfix.diagnose import diagnose
from stackfix.diagnose.answer import answer
from stackfix.diagnose.diagnosis import Diagnosis
from stackfix.diagnose.events import read_log
from stackfix.diagnose.facts import RunFacts
from stackfix_knowledge.cards.gpus import GpuTable
from stackfix_knowledge.logs.signatures import signature_table

GPUS = GpuTable.load()
LINES = [line for s in signature_table().signatures for line in (*s.positive, *s.negative)]
CASES: list[dict[str, Any]] = [
    case
    for path in sorted((Path(__file__).parent / "cases").glob("*.toml"))
    for case in rtoml.loads(path.read_text())["case"]
]


def answered(data: bytes) -> Diagnosis:
    facts = RunFacts()
    reading = read_log(io.BytesIO(data), "run.log", facts)
    return answer([reading], facts, GPUS)


@given(st.binary(max_size=4000))
@settings(max_examples=60, deadline=None)
def test_any_bytes_get_an_answer(data: bytes) -> None:
    assert answered(data).family.name


@given(st.lists(st.sampled_from(LINES), max_size=25))
@settings(max_examples=80, deadline=None)
def test_any_mixture_of_known_lines_gets_an_answer(lines: list[str]) -> None:
    found = answered("\n".join(lines).encode())
    assert len(found.cause) <= 3
    assert not {id(e) for e in found.cause} & {id(e) for e in (*found.wrappers, *found.collateral)}


@pytest.mark.parametrize("seed", range(40))
def test_damaged_logs_get_an_answer(seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(chance.choice(CASES)["log"].encode())
    for _ in range(chance.randrange(1, 60)):
        at = chance.randrange(len(data))
        match chance.randrange(4):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                del data[at : at + chance.randrange(40)]
            case 2:
                data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
            case _:
                data[at:at] = data[: chance.randrange(len(data) or 1)][:500]
        data = data or bytearray(b"x")
    assert answered(bytes(data)).family.name


@pytest.mark.parametrize("case", CASES[:20], ids=lambda case: case["name"])
def test_a_log_cut_anywhere_gets_an_answer(case: dict[str, Any]) -> None:
    data = case["log"].encode()
    for at in range(0, len(data), max(1, len(data) // 12)):
        assert answered(data[:at]).family.name


def test_binary_files_get_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "core"
    path.write_bytes(bytes(range(256)) * 4000 + b"\nRuntimeError: CUDA error: misaligned address\n")
    assert diagnose([str(path)]).family.name == "kernel_memory_fault"
