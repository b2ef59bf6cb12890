"""Finding many texts at once: the fast engine and the plain one agree."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix.diagnose.finder import Finder, PlainFinder, finder

PATTERNS = [re.escape("NCCL WARN"), re.escape("Error"), r"rank \d{1,6} n[rR]anks \d", "ab"]


@pytest.fixture(params=["engine", "plain"])
def both(request: pytest.FixtureRequest) -> Finder:
    return finder(PATTERNS) if request.param == "engine" else PlainFinder(PATTERNS)


def test_a_text_is_found_where_it_ends(both: Finder) -> None:
    assert both.find(memoryview(b"x Error y")) == [(7, 1)]


def test_hits_ascend(both: Finder) -> None:
    hits = both.find(memoryview(b"Error NCCL WARN rank 3 nranks 8 Error"))
    assert hits == sorted(hits)
    assert {number for _, number in hits} == {0, 1, 2}


def test_nothing_is_found_in_nothing(both: Finder) -> None:
    assert both.find(memoryview(b"")) == []


@given(st.lists(st.sampled_from(["Error", "ab", "NCCL WARN", "\n", "x", "Erro", "a"]), max_size=30))
def test_engine_and_plain_search_agree(parts: list[str]) -> None:
    data = memoryview("".join(parts).encode())
    literal = [PATTERNS[0], PATTERNS[1], PATTERNS[3]]
    assert finder(literal).find(data) == PlainFinder(literal).find(data)
