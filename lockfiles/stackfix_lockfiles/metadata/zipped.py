"""The METADATA inside a wheel, found with a few reads of parts of it.

Layout: PKWARE's APPNOTE 6.3, sections 4.3.7 (local header), 4.3.12 (central directory), 4.3.14 and
4.3.16 (its ends). A wheel's folder is `{name}-{version}.dist-info` (binary distribution format).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["BadZip", "metadata_of"]

MAX_METADATA = 4 << 20
"""Bytes of METADATA, unpacked; real ones stay below 0.3 MB."""
_MAX_DIRECTORY = 16 << 20
"""Bytes of a central directory; that of torch 2.8.0 has 1.6 MB."""
TAIL = 64 << 10
"""Bytes that are read first, from the end."""

_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")

Read = Callable[[int, int], bytes]
"""Returns the bytes from `start` up to, not including, `end`."""


class BadZip(ValueError):
    """Not a wheel, or one that is built to cost too much."""


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    method: int
    crc: int
    packed: int
    size: int
    offset: int


def metadata_of(tail: bytes, total: int, read: Read) -> bytes:
    """The METADATA of a wheel of `total` bytes that ends with `tail`.

    Raises:
        BadZip: there is none, it is damaged, or larger than `MAX_METADATA`.
    """
    try:
        offset, size = _directory(tail, total, read)
        entry = next(
            (entry for entry in _entries(_part(tail, total, read, offset, size)) if _is_it(entry)),
            None,
        )
        if entry is None:
            raise BadZip("no METADATA in it")
        return _unpack(entry, tail, total, read)
    except (struct.error, zlib.error, UnicodeDecodeError) as error:
        raise BadZip(str(error)) from error


def _directory(tail: bytes, total: int, read: Read) -> tuple[int, int]:
    """Where the central directory lies: offset and size."""
    at = tail.rfind(b"PK\x05\x06")
    if at < 0:
        raise BadZip("no end of a zip file")
    *_, size, offset, _comment = _END.unpack_from(tail, at)
    if offset == 0xFFFFFFFF or size == 0xFFFFFFFF:
        start = at - _END64_LOCATOR.size
        if start < 0 or tail[start : start + 4] != b"PK\x06\x07":
            raise BadZip("no end of a large zip file")
        _, _, where, _ = _END64_LOCATOR.unpack_from(tail, start)
        end64 = _part(tail, total, read, where, _END64.size)
        *_, size, offset = _END64.unpack(end64)
    if size > _MAX_DIRECTORY or offset + size > total:
        raise BadZip("a central directory out of bounds")
    return offset, size


def _entries(directory: bytes) -> Iterator[_Entry]:
    at = 0
    while at + _ENTRY.size <= len(directory):
        fields = _ENTRY.unpack_from(directory, at)
        if fields[0] != b"PK\x01\x02":
            return
        method, crc, packed, size = fields[4], fields[7], fields[8], fields[9]
        name_length, extra_length, comment_length, offset = (*fields[10:13], fields[16])
        at += _ENTRY.size
        name = directory[at : at + name_length].decode("utf-8", "replace")
        extra = directory[at + name_length : at + name_length + extra_length]
        if offset == 0xFFFFFFFF:
            offset = _offset64(extra, skip=8 * ((packed == 0xFFFFFFFF) + (size == 0xFFFFFFFF)))
        yield _Entry(name, method, crc, packed, size, offset)
        at += name_length + extra_length + comment_length


def _offset64(extra: bytes, skip: int) -> int:
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            (offset,) = struct.unpack_from("<Q", extra, at + 4 + skip)
            return int(offset)
        at += 4 + length
    raise BadZip("no 64-bit offset")


def _is_it(entry: _Entry) -> bool:
    folder, _, name = entry.name.partition("/")
    return name == "METADATA" and folder.endswith(".dist-info")


def _unpack(entry: _Entry, tail: bytes, total: int, read: Read) -> bytes:
    if entry.size > MAX_METADATA or entry.packed > MAX_METADATA:
        raise BadZip("METADATA out of bounds")
    # The local header's extra field may be longer than the directory's: read some spare bytes.
    spare = _LOCAL.size + len(entry.name.encode()) + 512
    length = min(spare + entry.packed, total - entry.offset)
    part = _part(tail, total, read, entry.offset, length)
    fields = _LOCAL.unpack_from(part)
    if fields[0] != b"PK\x03\x04":
        raise BadZip("no local header")
    start = _LOCAL.size + fields[9] + fields[10]
    packed = part[start : start + entry.packed]
    if len(packed) != entry.packed:
        raise BadZip("METADATA cut off")
    if entry.method == 0:
        data = packed
    elif entry.method == 8:
        data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, MAX_METADATA + 1)
    else:
        raise BadZip(f"compression method {entry.method}")
    if len(data) != entry.size or zlib.crc32(data) != entry.crc:
        raise BadZip("METADATA damaged")
    return data


def _part(tail: bytes, total: int, read: Read, offset: int, size: int) -> bytes:
    """Bytes of the file, from the tail where it has them."""
    if offset < 0 or offset + size > total:
        raise BadZip("a part out of bounds")
    start = offset - (total - len(tail))
    if start >= 0:
        return tail[start : start + size]
    part = read(offset, offset + size)
    if len(part) != size:
        raise BadZip("a part cut off")
    return part
