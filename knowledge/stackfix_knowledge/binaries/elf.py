"""The little of an ELF file that measuring needs: its sections and what it asks the loader for.

pyelftools reads the format; it is lent a stream that gives out so many bytes and no more, so that
a hostile file (a table of millions of sections, a name without an end) costs a bounded amount.
"""

from __future__ import annotations

import io
import mmap
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from stackfix_index.errors import Unreadable

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

__all__ = ["Elf", "Section", "is_elf", "read_elf"]

_MOST_SECTIONS = 20_000
_MOST_NEEDED = 1_000
_LONGEST_NAME = 4_096
_MOST_BYTES = 32 << 20
"""What reading headers, tables and names may take; real libraries need some tens of kilobytes."""

_START = b"\x7fELF\x02\x01"
"""64 bit, little endian."""
_SHF_EXECINSTR = 4
_MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}

Buffer = bytes | mmap.mmap


class Section(NamedTuple):
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


class Elf(NamedTuple):
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
    return start[: len(_START)] == _START


def read_elf(data: Buffer, *, name: str) -> Elf:
    """Read a 64-bit little-endian ELF file; ``name`` is what errors call it.

    Raises Unreadable for a file that is none, is cut off, or asks for too much.
    """
    from elftools.elf.elffile import ELFFile

    if not is_elf(data[: len(_START)]):
        raise Unreadable(name, None, "a 64-bit little-endian ELF file")
    try:
        elf = ELFFile(cast("IO[bytes]", _Metered(data, name)))
        if elf.num_sections() > _MOST_SECTIONS:
            raise Unreadable(name, "file header", f"at most {_MOST_SECTIONS:,} sections")
        return _read(elf, len(data), name)
    except Unreadable:
        raise
    except Exception as error:
        # pyelftools raises whatever a broken field leads to; each of them means the same here.
        what = f"a 64-bit little-endian ELF file with whole tables ({type(error).__name__})"
        raise Unreadable(name, None, what) from None


def _read(elf: ELFFile, size_of_file: int, name: str) -> Elf:
    sections: list[Section] = []
    needed: tuple[str, ...] = ()
    soname = None
    for section in elf.iter_sections():
        size = 0 if section["sh_type"] == "SHT_NOBITS" else section["sh_size"]
        offset = section["sh_offset"]
        if size and offset + size > size_of_file:
            raise Unreadable(name, "section table", "sections that end within the file")
        executable = bool(section["sh_flags"] & _SHF_EXECINSTR)
        sections.append(Section(section.name[:_LONGEST_NAME], offset, size, executable))
        if section["sh_type"] == "SHT_DYNAMIC" and not needed:
            needed, soname = _dynamic(section, name)
    return Elf(
        machine=_MACHINES.get(elf["e_machine"]),
        sections=tuple(sections),
        needed=needed,
        soname=soname,
    )


def _dynamic(section: Any, name: str) -> tuple[tuple[str, ...], str | None]:
    """DT_NEEDED and DT_SONAME of a DynamicSection (its tags have no types for what they hold)."""
    needed: list[str] = []
    soname = None
    for tag in section.iter_tags():
        if tag.entry.d_tag == "DT_NEEDED":
            needed.append(tag.needed[:_LONGEST_NAME])
        elif tag.entry.d_tag == "DT_SONAME":
            soname = tag.soname[:_LONGEST_NAME]
        if len(needed) > _MOST_NEEDED:
            raise Unreadable(name, "dynamic section", f"at most {_MOST_NEEDED:,} libraries")
    return tuple(needed), soname


class _Metered(io.RawIOBase):
    """A file in memory that may be read up to a total of bytes, whatever is asked for."""

    def __init__(self, data: Buffer, name: str) -> None:
        super().__init__()
        self._data = data
        self._name = name
        self._place = 0
        self._left = _MOST_BYTES

    def read(self, size: int = -1) -> bytes:
        end = len(self._data) if size < 0 else min(self._place + size, len(self._data))
        taken = max(0, end - self._place)
        self._left -= max(taken, 1)  # reads beyond the end count too: they could go on for ever
        if self._left < 0:
            raise Unreadable(self._name, None, "headers of an ordinary size")
        piece = self._data[self._place : end] if taken else b""
        self._place += taken
        return piece

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: len(self._data)}[whence]
        self._place = max(0, base + offset)
        return self._place

    def tell(self) -> int:
        return self._place

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True
