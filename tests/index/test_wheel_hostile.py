"""METADATA is read out of a wheel on a server with little, and from zip files made to harm."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable

import httpx
import pytest

from stackfix_index.client import Client
from stackfix_index.errors import Unreadable
from stackfix_index.remote import RemoteFile
from stackfix_index.wheel import Wheel, metadata_of
from tests.lockfiles.test_metadata import TAIL, TEXT, wheel

Read = Callable[[int, int], bytes]


def served(total: int, read: Read) -> Client:
    """A server of one file, of which only parts exist."""

    def answer(request: httpx.Request) -> httpx.Response:
        first, _, last = request.headers["range"].removeprefix("bytes=").partition("-")
        start, end = (int(first), int(last) + 1) if first else (max(total - int(last), 0), total)
        span = {"content-range": f"bytes {start}-{end - 1}/{total}"}
        return httpx.Response(206, headers=span, content=read(start, end))

    return Client(transport=httpx.MockTransport(answer))


def read_from(total: int, read: Read, *, tail: int = TAIL) -> str:
    remote = RemoteFile(served(total, read), "https://index.example/x.whl", name="x", tail=tail)
    with Wheel(remote, name="x") as opened:
        return metadata_of(opened)


def whole(data: bytes) -> str:
    return read_from(len(data), lambda start, end: data[start:end])


def test_a_plain_wheel_is_read() -> None:
    assert whole(wheel(padding=5 * TAIL)) == TEXT


def test_a_wheel_of_more_than_4_gb_is_read() -> None:
    """Its offsets stand in the 64-bit records (APPNOTE 4.5.3, 4.3.14, 4.3.15)."""
    base = 5 << 30  # where the METADATA begins; what comes before is never asked for
    name, text = b"big_thing-1.0.dist-info/METADATA", TEXT.encode()
    sizes = (zlib.crc32(text), len(text), len(text))
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 0, *sizes, len(name), 0)
    entry = struct.pack(
        "<4s6H3L5H2L", b"PK\1\2", 45, 45, 0, 0, 0, 0, *sizes, len(name), 12, 0, 0, 0, 0, 2**32 - 1
    )
    entry += name + struct.pack("<2HQ", 1, 8, base)
    start = base + len(local) + len(name) + len(text)
    end64 = struct.pack(
        "<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(entry), start
    ) + struct.pack("<4sLQL", b"PK\6\7", 0, start + len(entry), 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, len(entry), 2**32 - 1, 0)
    tail = local + name + text + entry + end64 + end
    total = base + len(tail)

    def read(first: int, last: int) -> bytes:
        assert first >= base
        return tail[first - base : last - base]

    assert read_from(total, read, tail=len(tail)) == TEXT
    assert read_from(total, read, tail=len(end64 + end)) == TEXT


def test_a_bomb_is_not_unpacked() -> None:
    with pytest.raises(Unreadable, match="METADATA: expected at most 8,388,608 bytes"):
        whole(wheel("Metadata-Version: 2.1\n" + "x" * (8 << 20)))


def _patched(data: bytes, signature: bytes, offset: int, value: bytes) -> bytes:
    at = data.rfind(signature) + offset
    return data[:at] + value + data[at + len(value) :]


@pytest.mark.parametrize(
    ("signature", "offset", "value"),
    [
        (b"PK\x05\x06", 12, b"\xfe\xff\xff\xff"),  # size of the directory
        (b"PK\x05\x06", 16, b"\xfe\xff\xff\xff"),  # its offset
        (b"PK\x05\x06", 16, b"\xff\xff\xff\xff"),  # a large file without the large end
    ],
)
def test_a_lying_end_is_refused(signature: bytes, offset: int, value: bytes) -> None:
    with pytest.raises(Unreadable):
        whole(_patched(wheel(), signature, offset, value))


def test_every_cut_and_every_changed_byte_is_refused_or_right() -> None:
    data = wheel(compress=False)
    for position in range(len(data)):
        for damaged in (data[:position], data[:position] + b"\xff" + data[position + 1 :]):
            try:
                found = whole(damaged)
            except Unreadable:
                continue
            assert found == TEXT, position


def test_a_server_that_gives_less_than_asked_is_refused() -> None:
    data = wheel(padding=5 * TAIL, compress=False)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("big_thing-1.0.dist-info/METADATA", TEXT)
        archive.writestr("big_thing/lib.so", b"\x90" * 5 * TAIL)
    data = buffer.getvalue()
    assert whole(data) == TEXT
    with pytest.raises(Unreadable, match="expected"):
        read_from(len(data), lambda start, end: data[start : end - 1])
