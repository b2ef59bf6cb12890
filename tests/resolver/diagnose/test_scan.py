"""From bytes to lines, by the fast finder and by the plain one."""

from __future__ import annotations

import io
import re
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix.diagnose.scan import (
    BUSY,
    CHUNK,
    LONGEST,
    Finder,
    LogLine,
    PlainFinder,
    Scan,
    finder,
)

FIND = finder(["needle", "straw"])


def scanned(data: bytes) -> tuple[list[LogLine], Scan]:
    scan = Scan(FIND)
    return list(scan.lines(io.BytesIO(data))), scan


def test_a_line_has_its_number_and_the_line_before() -> None:
    lines, scan = scanned(b"one\ntwo\na needle here\nfour\n")
    assert [(line.number, line.text, line.previous) for line in lines] == [
        (3, b"a needle here", b"two")
    ]
    assert scan.count == 4


def test_two_hits_of_a_line_are_one_line() -> None:
    lines, _ = scanned(b"needle straw needle\n")
    assert [sorted(line.patterns) for line in lines] == [[0, 1]]


def test_the_last_line_may_lack_its_end() -> None:
    lines, scan = scanned(b"one\nneedle")
    assert [line.number for line in lines] == [2]
    assert scan.count == 2


def test_carriage_returns_are_read_as_a_terminal_shows_them() -> None:
    lines, _ = scanned(b"50%\r100%\rneedle found\r\nnext\n")
    assert [line.text for line in lines] == [b"needle found"]


@pytest.mark.parametrize("shift", range(-8, 9))
def test_a_hit_at_the_edge_of_a_chunk_is_found_once(shift: int) -> None:
    before = b"x" * 99 + b"\n"
    data = before * (CHUNK // 100)
    data = data[: CHUNK + shift - 3 - 20] + b"\n" + b"y" * 19 + b"needle\nend\n"
    lines, scan = scanned(data)
    assert len(lines) == 1
    assert lines[0].text.endswith(b"needle")
    assert lines[0].number == data[: data.index(b"needle")].count(b"\n") + 1
    assert scan.count == data.count(b"\n")


@pytest.mark.parametrize("at", [0, 5000, CHUNK - 3, CHUNK, 3 * CHUNK - 2, 3 * CHUNK + 4000])
def test_an_endless_line_is_cut_around_the_hit(at: int) -> None:
    data = b"first\n" + b"x" * at + b"needle" + b"x" * (4 * CHUNK - at) + b"\nstraw\n"
    lines, scan = scanned(data)
    assert [line.number for line in lines] == [2, 3]
    assert b"needle" in lines[0].text
    assert len(lines[0].text) <= LONGEST
    assert scan.count == 3


def test_of_a_frequent_line_the_first_and_the_last_are_kept() -> None:
    data = b"".join(b"straw %d\n" % number for number in range(BUSY * 3)) + b"needle\n"
    lines, _ = scanned(data)
    numbers = [line.number for line in lines]
    assert numbers[:BUSY] == list(range(1, BUSY + 1))
    assert BUSY * 3 in numbers
    assert BUSY * 3 + 1 in numbers
    assert len(numbers) < BUSY + 300


class Endless(io.RawIOBase):
    """A log that is made while it is read."""

    def __init__(self, line: bytes, size: int) -> None:
        self._block = line * (CHUNK // len(line))
        self._left = size

    def read(self, size: int = -1) -> bytes:
        if self._left <= 0:
            return b""
        self._left -= len(self._block)
        return self._block


@pytest.mark.parametrize(
    "line",
    [
        b"step 1 loss 2.0\n",
        b"straw and a needle, and much else that is neither\n",
        b"no end of it ",
        b"needle, and much else that is neither, without end ",
    ],
)
def test_memory_does_not_grow_with_the_log(line: bytes) -> None:
    def peak(size: int) -> int:
        tracemalloc.start()
        for _ in Scan(FIND).lines(Endless(line, size)):  # type: ignore[arg-type]
            pass
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    assert peak(8 << 20) < 1.5 * peak(2 << 20) + (2 << 20)


def test_a_stream_that_breaks_is_read_up_to_there() -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            if not data:
                raise EOFError("compressed file ended early")
            return data

    scan = Scan(FIND)
    lines: Iterator[LogLine] = scan.lines(Broken(b"needle\n"))
    assert [line.number for line in lines] == [1]
    assert scan.broken == "compressed file ended early"


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
