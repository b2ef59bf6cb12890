"""Containers of GPU code (fatbins) in the bytes of a section.

A container starts with a magic number and holds one image per architecture. Only the headers are
read; payloads, compressed or not, are stepped over. The layout was found by comparison with
``cuobjdump``, which stays the oracle in the tests::

    container  u32 magic · u16 version · u16 header size · u64 size of what follows
    image      u16 kind · u16 · u32 header size · u64 payload size
               +28 u32 architecture · +40 u64 flags
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from stackfix_index.errors import Unreadable
from stackfix_knowledge.hardware import Architecture, CodeKind, ComputeCapability

__all__ = [
    "MOST_IMAGES",
    "Budget",
    "Container",
    "containers",
    "embedded_containers",
]

MOST_IMAGES = 2_000_000
"""Containers and images in one section, at most. The largest known libraries have some 20,000."""

_MAGIC = 0xBA55ED50
_MAGIC_BYTES = struct.pack("<I", _MAGIC)
_CONTAINER = struct.Struct("<IHHQ")
_IMAGE = struct.Struct("<HHIQ8xHHI8xQ")
_KINDS = {1: CodeKind.PTX, 2: CodeKind.SASS}
_ARCHITECTURE_SPECIFIC = 0x100000
_FAMILY_SPECIFIC = 0x200000

Buffer = bytes | mmap.mmap


class Container(NamedTuple):
    """One container."""

    offset: int
    """Where it starts, in bytes from the start of the file."""
    images: frozenset[Architecture]
    """What its images were built for."""
    ptx_version: tuple[int, int] | None
    """The newest PTX language version among its PTX images, such as (8, 7)."""


class Budget:
    """How many containers and images may still be read from one file.

    Damaged ones count too, so that no arrangement of bytes costs more than a few seconds.
    """

    __slots__ = ("_name", "left")

    def __init__(self, name: str) -> None:
        self._name = name
        self.left = MOST_IMAGES

    def spend(self) -> None:
        """Count one; raise Unreadable where there are none left."""
        self.left -= 1
        if self.left < 0:
            raise Unreadable(self._name, None, f"at most {MOST_IMAGES:,} images of GPU code")


def containers(
    data: Buffer, start: int, end: int, *, name: str, budget: Budget
) -> Iterator[Container]:
    """The containers between two offsets of a file.

    ``name`` is what errors call the file. Raises Unreadable where a size leads out of its
    container or section, or where there are more images than any real library has.
    """
    end = min(end, len(data))
    while (start := data.find(_MAGIC_BYTES, start, end)) >= 0:
        budget.spend()
        if end - start < _CONTAINER.size:
            raise Unreadable(name, f"offset {start}", "a whole container header")
        _, _, header, size = _CONTAINER.unpack_from(data, start)
        following = start + header + size
        if header < _CONTAINER.size or following > end:
            raise Unreadable(name, f"offset {start}", "a container that ends within its section")
        yield _container(data, start, start + header, following, name, budget)
        start = following


def embedded_containers(
    data: Buffer, start: int, end: int, *, name: str, budget: Budget
) -> Iterator[Container]:
    """The containers in a section of ordinary data, where the magic can also stand by chance.

    What does not read as a container is passed over. Raises Unreadable only for too many.
    """
    end = min(end, len(data))
    while 0 <= (start := data.find(_MAGIC_BYTES, start, end)) <= end - _CONTAINER.size:
        budget.spend()
        _, version, header, size = _CONTAINER.unpack_from(data, start)
        following = start + header + size
        if version == 1 and header == _CONTAINER.size and size and following <= end:
            try:
                found = _container(data, start, start + header, following, name, budget)
            except Unreadable:
                if budget.left < 0:
                    raise
            else:
                yield found
                start = following
                continue
        start += len(_MAGIC_BYTES)


def _container(
    data: Buffer, offset: int, position: int, end: int, name: str, budget: Budget
) -> Container:
    found: set[Architecture] = set()
    ptx: tuple[int, int] | None = None
    while position < end:
        budget.spend()
        if end - position < _IMAGE.size:
            if any(data[position:end]):
                raise Unreadable(name, f"offset {position}", "a whole image header")
            break
        kind, _, header, size, minor, major, number, flags = _IMAGE.unpack_from(data, position)
        following = position + header + size
        if header < _IMAGE.size or following > end:
            raise Unreadable(name, f"offset {position}", "an image that ends within its container")
        if kind in _KINDS:
            if not 10 <= number <= 999:
                raise Unreadable(
                    name, f"offset {position}", f"an architecture number, not {number}"
                )
            image = _architecture(kind, number, flags & (_ARCHITECTURE_SPECIFIC | _FAMILY_SPECIFIC))
            found.add(image)
            if image.kind is CodeKind.PTX:
                ptx = max(ptx or (0, 0), (major, minor))
        position = following
    return Container(offset=offset, images=frozenset(found), ptx_version=ptx)


@cache
def _architecture(kind: int, number: int, flags: int) -> Architecture:
    variant = "a" if flags & _ARCHITECTURE_SPECIFIC else "f" if flags & _FAMILY_SPECIFIC else ""
    return Architecture(_KINDS[kind], ComputeCapability(number // 10, number % 10), variant)
