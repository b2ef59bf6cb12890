"""What only mentions an error: dumps, quotes, patterns."""

from __future__ import annotations

import pytest

from stackfix.diagnose.mention import is_mention, log_message


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
    assert is_mention(line, at, at + 5)


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
    assert not is_mention(line, at, at + 5)


def test_json_logging_gives_its_message_and_fields() -> None:
    line = '{"level": "error", "msg": "a\\nb", "rank": 3, "extra": {"msg": "no"}}'
    assert log_message(line) == ("a\nb", {"rank": "3", "level": "error"})


def test_json_without_a_message_says_nothing() -> None:
    assert log_message('{"alerts": ["CUDA out of memory"]}') == ("", {})


@pytest.mark.parametrize("line", ["plain", "{broken", "[1, 2]", '{"a": ' * 5000 + "}" * 5000])
def test_other_lines_are_no_json_logging(line: str) -> None:
    assert log_message(line) is None
