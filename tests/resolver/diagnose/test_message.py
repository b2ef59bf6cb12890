"""Taking a line apart, and telling reports from mentions."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix.diagnose.message import (
    JsonRecord,
    is_quoted,
    json_record,
    line_text,
    split_prefix,
    timestamp,
)


@pytest.mark.parametrize(
    ("line", "body", "fields"),
    [
        ("[rank3]: ValueError: x", "ValueError: x", {"rank": 3}),
        ('[rank1]:   File "a.py"', '  File "a.py"', {"rank": 1}),
        ("[default2]:[rank10]: x", "x", {"rank": 10, "task": 2}),
        (
            "h:12:34 [5] transport/nvls.cc:1 NCCL WARN x",
            "transport/nvls.cc:1 NCCL WARN x",
            {"host": "h", "pid": "12", "thread": "34", "device": 5},
        ),
        (
            "2025-12-01T09:12:44.8Z [2025-12-01 09:12:44] k05 [5] a.cc:46 NCCL WARN x",
            "a.cc:46 NCCL WARN x",
            {"host": "k05", "device": 5},
        ),
        ("[1,7]<stderr>:x y", "x y", {"rank": 7}),
        ("12: x y", "x y", {"task": 12}),
        ("(Actor pid=71, ip=10.0.0.1) x", "x", {"pid": "71", "host": "10.0.0.1"}),
        (
            "(Worker_TP3 pid=71) ERROR 02-12 04:17:29 [core.py:936] x",
            "x",
            {"task": 3, "level": "E"},
        ),
        ("10.5.5.1: [2023-08-28 11:37:25,233] [INFO] [a.py:2:f] x", "x", {"host": "10.5.5.1"}),
        ("node-b: x", "x", {"host": "node-b"}),
        ("[2025-03-02 14:31:20 TP14] x", "x", {"task": 14}),
        ("E0801 12:05:02.669000 43005 torch/a/api.py:869] x", "x", {"level": "E"}),
        (
            "[E822 04:26:42.161034652 ProcessGroupNCCL.cpp:632] [Rank 2] x",
            "[Rank 2] x",
            {"rank": 2},
        ),
        ("2025-08-14 06:00:13.448 | WARNING  | a.b:c:12 - x", "x", {"level": "W"}),
        ("2025-03-27 10:02:45,966 - lumen.loop - ERROR - x", "x", {"level": "E"}),
        ("[Fri Aug 22 04:16:35 2025] NVRM: x", "NVRM: x", {}),
        ("Feb 17 22:41:00 n3 kernel: x", "x", {"host": "n3"}),
        ("svc-1  | [rank2]: x", "x", {"rank": 2}),
        ("RuntimeError: x", "RuntimeError: x", {"host": None}),
        ("ptxas fatal   : x", "ptxas fatal   : x", {}),
        ("torch.OutOfMemoryError: x", "torch.OutOfMemoryError: x", {"host": None}),
    ],
)
def test_a_prefix_is_taken_off_and_read(line: str, body: str, fields: dict[str, object]) -> None:
    prefix = split_prefix(line)
    assert prefix.body == body
    assert {name: getattr(prefix, name) for name in fields} == fields


def test_times_of_several_loggers_compare() -> None:
    first = split_prefix("[E822 04:26:42.1 a.cpp:1] x").time
    second = split_prefix("2025-08-22 04:26:43,5 x").time
    third = split_prefix("[Fri Aug 22 04:26:44 2025] x").time
    assert first is not None
    assert second is not None
    assert third is not None
    assert first < second < third


def test_a_number_that_is_no_time_is_none() -> None:
    assert timestamp("12 34") is None


def test_escape_sequences_go() -> None:
    assert line_text(b"\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link") == "red link"


@given(st.text(max_size=200))
def test_any_text_can_be_split(text: str) -> None:
    assert text.endswith(split_prefix(text).body)


@pytest.mark.parametrize("part", ["a", "1", "[", "(a ", "- ", "a.", "a-", ": ", " ", "[1]", "1:"])
def test_no_line_takes_long(part: str) -> None:
    line = part * (8192 // len(part))
    start = time.process_time()
    split_prefix(line)
    assert time.process_time() - start < 0.2


@pytest.mark.parametrize(
    "line",
    [
        "args: Namespace(retry_on=['FAULT'])",
        "retry_on: ['a', 'FAULT']",
        "config: {'match': 'FAULT'}",
        "env: X=1 MATCH=FAULT",
        "+ grep FAULT run.log",
        "$ grep FAULT run.log",
        "Options(pattern='FAULT')",
        'will restart on "FAULT" if it happens',
    ],
)
def test_a_listed_or_quoted_fault_is_a_mention(line: str) -> None:
    at = line.index("FAULT")
    assert is_quoted(line, at, at + 5)


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: FAULT",
        "RuntimeError: [x.cc:81] FAULT",
        "NCCL WARN Cuda failure 'FAULT'",
        "NCCL WARN Cuda failure 999 'FAULT'",
        "RuntimeError('FAULT')",
        "x FAILED ('FAULT')",
        "worker said: FAULT",
    ],
)
def test_a_reported_fault_is_none(line: str) -> None:
    at = line.index("FAULT")
    assert not is_quoted(line, at, at + 5)


def test_json_logging_gives_its_message_and_fields() -> None:
    line = '{"level": "error", "msg": "a\\nb", "rank": 3, "extra": {"msg": "no"}}'
    assert json_record(line) == JsonRecord(text="a\nb", rank=3, level="E")


def test_json_without_a_message_says_nothing() -> None:
    assert json_record('{"alerts": ["CUDA out of memory"]}') == JsonRecord(text="")


@pytest.mark.parametrize("line", ["plain", "{broken", "[1, 2]", '{"a": ' * 5000 + "}" * 5000])
def test_other_lines_are_no_json_logging(line: str) -> None:
    assert json_record(line) is None
