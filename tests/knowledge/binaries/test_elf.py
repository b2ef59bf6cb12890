"""Sections and needed libraries of ELF files; pyelftools is the oracle."""

import _ctypes
import struct
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from hypothesis import given
from hypothesis import strategies as st

from stackfix_index.errors import Unreadable
from stackfix_knowledge.binaries.elf import is_elf, read_elf
from tests.knowledge.measure.building import elf

REAL = [
    Path(path) for path in (_ctypes.__file__, sys.executable) if is_elf(Path(path).read_bytes())
]


def built() -> bytes:
    return elf(
        {".text": b"\x90" * 10, ".nv_fatbin": b"x" * 99}, needed=["libcudart.so.12", "libc.so.6"]
    )


def needed_by(oracle: ELFFile) -> tuple[str, ...]:
    dynamic = oracle.get_section_by_name(".dynamic")
    assert isinstance(dynamic, DynamicSection)
    return tuple(str(vars(tag)["needed"]) for tag in dynamic.iter_tags("DT_NEEDED"))


def test_sections_are_found_by_name() -> None:
    section = read_elf(built(), name="lib.so").section(".nv_fatbin")
    assert section is not None
    assert built()[section.offset : section.end] == b"x" * 99


def test_a_missing_section_is_none() -> None:
    assert read_elf(built(), name="lib.so").section("__nv_relfatbin") is None


def test_needed_libraries_come_in_their_order() -> None:
    assert read_elf(built(), name="lib.so").needed == ("libcudart.so.12", "libc.so.6")


def test_soname_and_machine_are_read() -> None:
    found = read_elf(elf(soname="libnccl.so.2", machine=183), name="lib.so")
    assert (found.soname, found.machine) == ("libnccl.so.2", "aarch64")
    assert read_elf(elf(machine=8), name="lib.so").machine is None


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_files_read_as_pyelftools_reads_them(path: Path) -> None:
    found = read_elf(path.read_bytes(), name=path.name)
    with path.open("rb") as stream:
        oracle = ELFFile(stream)
        expected = [(s.name, s["sh_offset"]) for s in oracle.iter_sections()]
        needed = needed_by(oracle)
    assert [(section.name, section.offset) for section in found.sections] == expected
    assert found.needed == needed
    assert needed


def test_what_the_builder_builds_is_an_elf_file_to_pyelftools(tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(built())
    with path.open("rb") as stream:
        oracle = ELFFile(stream)
        section = oracle.get_section_by_name(".nv_fatbin")
        assert section is not None
        assert section.data() == b"x" * 99
        assert needed_by(oracle) == ("libcudart.so.12", "libc.so.6")


def test_a_section_without_room_in_the_file_may_lie_behind_its_end() -> None:
    data = bytearray(elf({".bss": b"12345678"}))
    table = struct.unpack_from("<Q", data, 40)[0]
    struct.pack_into("<I", data, table + 3 * 64 + 4, 8)  # SHT_NOBITS
    struct.pack_into("<QQ", data, table + 3 * 64 + 24, 2**40, 2**40)
    section = read_elf(bytes(data), name="lib.so").section(".bss")
    assert section is not None
    assert section.size == 0


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"#!/bin/sh\n" + bytes(99), elf()[:40]])
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"lib.so: expected a 64-bit little-endian ELF file"):
        read_elf(data, name="lib.so")


def test_a_32_bit_file_is_refused() -> None:
    with pytest.raises(Unreadable, match="expected a 64-bit little-endian ELF file"):
        read_elf(b"\x7fELF\x01\x01" + bytes(99), name="lib.so")


@pytest.mark.parametrize("field", ["offset", "size"])
@pytest.mark.parametrize("value", [2**63, 2**64 - 1, 10_000])
def test_a_section_outside_the_file_is_an_error(field: str, value: int) -> None:
    data = bytearray(built())
    table = struct.unpack_from("<Q", data, 40)[0]
    struct.pack_into("<Q", data, table + 3 * 64 + {"offset": 24, "size": 32}[field], value)
    with pytest.raises(Unreadable, match="sections that end within the file"):
        read_elf(bytes(data), name="lib.so")


def test_a_table_outside_the_file_is_an_error() -> None:
    data = bytearray(built())
    struct.pack_into("<Q", data, 40, 2**63)
    with pytest.raises(Unreadable, match="a 64-bit little-endian ELF file with whole tables"):
        read_elf(bytes(data), name="lib.so")


def test_sixty_thousand_sections_are_refused() -> None:
    data = bytearray(built())
    struct.pack_into("<H", data, 60, 65_000)
    with pytest.raises(Unreadable, match="at most 20,000 sections"):
        read_elf(bytes(data), name="lib.so")


def test_too_many_needed_libraries_are_refused() -> None:
    with pytest.raises(Unreadable, match="at most 1,000 libraries"):
        read_elf(elf(needed=["lib.so"] * 1001), name="lib.so")


def test_a_long_name_is_cut() -> None:
    data = bytes(elf(needed=["A" * 100_000]))
    assert read_elf(data, name="lib.so").needed == ("A" * 4096,)


def test_a_name_that_never_ends_costs_a_bounded_amount() -> None:
    data = bytes(elf(needed=["A" * (64 << 20)]))
    with pytest.raises(Unreadable, match="headers of an ordinary size"):
        read_elf(data, name="lib.so")


@given(st.integers(0, len(built()) - 1), st.binary(min_size=1, max_size=16))
def test_any_damage_gives_an_answer_or_the_one_error(position: int, damage: bytes) -> None:
    data = bytearray(built())
    data[position : position + len(damage)] = damage
    with suppress(Unreadable):
        read_elf(bytes(data), name="lib.so")
