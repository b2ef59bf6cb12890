"""A remote file reads like a local one, with few requests."""

import os

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix_index.client import Client
from stackfix_index.errors import Unreadable
from stackfix_index.remote import RemoteFile
from tests.index.serving import FILES, Served

DATA = bytes(range(256)) * 40_000
BIG = "big.whl"


def served(data: bytes = DATA, *, ranges: bool = True) -> Served:
    return Served({"big": {BIG: data}}, ranges=ranges)


def opened(index: Served) -> RemoteFile:
    return RemoteFile(index.client, f"{FILES}/{BIG}", name=BIG)


def test_one_request_tells_the_size_and_the_end() -> None:
    index = served()
    file = opened(index)
    assert file.size == len(DATA)
    file.seek(-1000, os.SEEK_END)
    assert file.read() == DATA[-1000:]
    assert index.requests == [f"/{BIG} bytes=-262144"]


@given(st.lists(st.tuples(st.integers(0, len(DATA)), st.integers(0, 5000)), max_size=5))
def test_any_read_gives_the_bytes_of_the_file(reads: list[tuple[int, int]]) -> None:
    file = opened(served())
    for start, size in reads:
        file.seek(start)
        assert file.read(size) == DATA[start : start + size]
        assert file.tell() == start + len(DATA[start : start + size])


def test_a_large_window_is_streamed_in_one_request() -> None:
    index = served()
    file = opened(index)
    file.expect(1000, 9_000_000)
    file.seek(1000)
    parts = []
    while file.tell() < 9_000_000:
        parts.append(file.read(min(700_000, 9_000_000 - file.tell())))
    assert b"".join(parts) == DATA[1000:9_000_000]
    assert len(index.requests) == 2


def test_a_small_step_forward_stays_in_the_stream() -> None:
    index = served()
    file = opened(index)
    file.expect(0, 9_000_000)
    assert file.read(30) == DATA[:30]
    file.seek(20, os.SEEK_CUR)
    assert file.read(100) == DATA[50:150]
    assert len(index.requests) == 2


def test_a_small_window_is_fetched_once_and_read_in_any_order() -> None:
    index = served()
    file = opened(index)
    file.expect(5000, 90_000)
    for start in (80_000, 5000, 40_000):
        file.seek(start)
        assert file.read(100) == DATA[start : start + 100]
    assert len(index.requests) == 2


def test_a_file_smaller_than_the_tail_takes_one_request() -> None:
    index = served(b"small")
    file = opened(index)
    file.expect(0, 5)
    assert file.read() == b"small"
    assert len(index.requests) == 1


def test_a_server_without_ranges_is_refused_before_it_sends_everything() -> None:
    with pytest.raises(Unreadable, match=r"big.whl: expected an index that serves parts"):
        opened(served(ranges=False))


def test_a_file_that_is_gone_is_one_clear_line() -> None:
    with pytest.raises(Unreadable, match=r"expected an index that has the file \(HTTP 404\)"):
        RemoteFile(served().client, f"{FILES}/other.whl", name="other.whl")


def test_a_server_that_does_not_answer_is_one_clear_line() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused", request=request)

    with pytest.raises(Unreadable, match="expected an index that answers"):
        RemoteFile(Client(transport=httpx.MockTransport(refuse)), f"{FILES}/x", name="x")


@pytest.mark.parametrize(
    "header", ["", "bytes 0-9/*", "bytes 0-9/-1", "bytes 0-9/99999999999999999"]
)
def test_a_server_that_tells_no_size_is_refused(header: str) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(206, headers={"content-range": header}, content=b"x" * 10)

    with pytest.raises(Unreadable, match="expected an index that serves parts of a file"):
        RemoteFile(Client(transport=httpx.MockTransport(answer)), f"{FILES}/x", name="x")


def test_a_server_that_sends_less_than_asked_is_an_error() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        size = 262_144 if request.headers["range"] == "bytes=-262144" else 5
        span = f"bytes {9_000_000 - size}-8999999/9000000"
        return httpx.Response(206, headers={"content-range": span}, content=b"x" * size)

    file = RemoteFile(Client(transport=httpx.MockTransport(answer)), f"{FILES}/x", name="x")
    with pytest.raises(Unreadable, match="bytes 0 to 100: expected that many bytes"):
        file.read(100)


def refusing_suffixes(request: httpx.Request, *, status: int = 416) -> httpx.Response:
    """A server that knows no ranges counted from the end."""
    if request.method == "HEAD":
        return httpx.Response(200, headers={"content-length": str(len(DATA))})
    first, _, last = request.headers["range"].removeprefix("bytes=").partition("-")
    if not first:
        return httpx.Response(status)
    span = f"bytes {first}-{last}/{len(DATA)}"
    part = DATA[int(first) : int(last) + 1]
    return httpx.Response(206, headers={"content-range": span}, content=part)


@pytest.mark.parametrize("status", [416, 501])
def test_a_server_without_ranges_from_the_end_is_asked_for_the_size(status: int) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return refusing_suffixes(request, status=status)

    file = RemoteFile(Client(transport=httpx.MockTransport(answer)), f"{FILES}/x", name="x")
    file.seek(-10, os.SEEK_END)
    assert file.read() == DATA[-10:]


def test_a_small_file_on_a_server_without_ranges_is_read_whole() -> None:
    index = served(ranges=False)
    file = RemoteFile(index.client, f"{FILES}/{BIG}", name=BIG, whole=len(DATA))
    file.seek(5)
    assert file.read(1000) == DATA[5:1005]
    assert len(index.requests) == 1
    with pytest.raises(Unreadable, match="serves parts of a file"):
        RemoteFile(index.client, f"{FILES}/{BIG}", name=BIG, whole=len(DATA) - 1)


@pytest.mark.parametrize("span", ["0-9/9", "0-8/10", "1-10/10", "5-4/5", "0-9/10 "])
def test_a_span_that_is_not_the_end_of_the_file_is_refused(span: str) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(206, headers={"content-range": f"bytes {span}"}, content=b"x" * 9)

    with pytest.raises(Unreadable):
        RemoteFile(Client(transport=httpx.MockTransport(answer)), f"{FILES}/x", name="x")
