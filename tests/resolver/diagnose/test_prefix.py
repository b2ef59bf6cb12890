"""Launchers' prefixes: taken off, and read for rank, host, time and level."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix.diagnose.prefix import clean, split_prefix, stamp


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
    assert stamp("12 34") is None


def test_escape_sequences_go() -> None:
    assert clean(b"\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link") == "red link"


@given(st.text(max_size=200))
def test_any_text_can_be_split(text: str) -> None:
    assert text.endswith(split_prefix(text).body)


@pytest.mark.parametrize("part", ["a", "1", "[", "(a ", "- ", "a.", "a-", ": ", " ", "[1]", "1:"])
def test_no_line_takes_long(part: str) -> None:
    line = part * (8192 // len(part))
    start = time.process_time()
    split_prefix(line)
    assert time.process_time() - start < 0.2
