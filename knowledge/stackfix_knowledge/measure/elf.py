"""The little of an ELF file that measuring needs: its sections and what it asks the loader for.

Every size and offset is checked against the file before use, so that a hostile file costs no more
than its headers.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass

from stackfix_knowledge.measure.errors import MeasureError

__all__ = ["Elf", "Section", "is_elf", "read_elf"]

_MOST_SECTIONS = 20_000
_MOST_NEEDED = 1_000
_LONGEST_NAME = 4_096

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_DYNAMIC = struct.Struct("<qQ")
_MAGIC = b"\x7fELF"
_SIXTY_FOUR_BIT_LITTLE_ENDIAN = b"\x02\x01"
_SHT_DYNAMIC, _SHT_NOBITS = 6, 8
_SHF_EXECINSTR = 4
_DT_NULL, _DT_NEEDED, _DT_SONAME = 0, 1, 14
_MACHINES = {62: "x86_64", 183: "aarch64"}

Buffer = bytes | mmap.mmap


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the file, by name."""

    name: str
    offset: int
    """In bytes from the start of the file."""
    size: int
    """In bytes; 0 for a section that takes no room in the file."""
    executable: bool = False
    """Whether it holds code of the host."""

    @property
    def end(self) -> int:
        """The offset of the first byte after it."""
        return self.offset + self.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Elf:
    """A shared library or program."""

    machine: str | None
    """``x86_64``, ``aarch64`` or None for another."""
    sections: tuple[Section, ...]
    needed: tuple[str, ...]
    """The libraries that it asks the loader for (DT_NEEDED), in its order."""
    soname: str | None
    """The name under which others ask for it."""

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        return next((section for section in self.sections if section.name == name), None)


def is_elf(start: bytes) -> bool:
    """Whether a file that starts so is an ELF file that :func:`read_elf` reads."""
    return start[:4] == _MAGIC and start[4:6] == _SIXTY_FOUR_BIT_LITTLE_ENDIAN


def read_elf(data: Buffer, *, name: str) -> Elf:
    """Read a 64-bit little-endian ELF file; ``name`` is what errors call it."""
    if len(data) < _HEADER.size or not is_elf(data[:6]):
        raise MeasureError(name, None, "a 64-bit little-endian ELF file")
    header = _HEADER.unpack_from(data)
    machine, table, entry_size, count, names_index = header[2], header[6], *header[11:14]
    rows = _section_rows(data, name, table, entry_size, count)
    names = rows[names_index] if names_index < len(rows) else None
    sections, dynamic = [], None
    for row in rows:
        _, kind, flags, _, offset, size, link, *_ = row
        size = 0 if kind == _SHT_NOBITS else size
        if size and offset + size > len(data):
            raise MeasureError(name, "section table", "sections that end within the file")
        if names is not None:
            name_of_it = _text(data, names, row[0])
            sections.append(Section(name_of_it, offset, size, bool(flags & _SHF_EXECINSTR)))
        if kind == _SHT_DYNAMIC and dynamic is None and link < len(rows):
            dynamic = (offset, size, rows[link])
    needed, soname = _dynamic(data, name, *dynamic) if dynamic else ((), None)
    return Elf(
        machine=_MACHINES.get(machine), sections=tuple(sections), needed=needed, soname=soname
    )


def _section_rows(
    data: Buffer, name: str, table: int, entry_size: int, count: int
) -> list[tuple[int, ...]]:
    if count == 0:
        return []
    if entry_size != _SECTION.size or count > _MOST_SECTIONS:
        raise MeasureError(name, "file header", f"at most {_MOST_SECTIONS:,} sections of 64 bytes")
    if table + count * entry_size > len(data):
        raise MeasureError(name, "file header", "a section table that ends within the file")
    return [_SECTION.unpack_from(data, table + index * entry_size) for index in range(count)]


def _dynamic(
    data: Buffer, name: str, offset: int, size: int, strings: tuple[int, ...]
) -> tuple[tuple[str, ...], str | None]:
    needed: list[str] = []
    soname = None
    for position in range(offset, offset + size - _DYNAMIC.size + 1, _DYNAMIC.size):
        tag, value = _DYNAMIC.unpack_from(data, position)
        if tag == _DT_NULL:
            break
        if tag == _DT_NEEDED:
            needed.append(_text(data, strings, value))
        elif tag == _DT_SONAME:
            soname = _text(data, strings, value)
        if len(needed) > _MOST_NEEDED:
            raise MeasureError(name, "dynamic section", f"at most {_MOST_NEEDED:,} libraries")
    return tuple(needed), soname


def _text(data: Buffer, strings: tuple[int, ...], index: int) -> str:
    """The text at an index of a string section; empty where it leads out of it."""
    offset, size = strings[4], strings[5]
    start, end = offset + index, min(offset + size, len(data))
    if index >= size or start >= end:
        return ""
    stop = data.find(b"\0", start, min(end, start + _LONGEST_NAME))
    return data[start : stop if stop >= 0 else start].decode("utf-8", "replace")
