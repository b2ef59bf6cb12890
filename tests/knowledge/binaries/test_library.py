"""A library is its sections of GPU code plus what it asks the loader for."""

import struct

import pytest

from stackfix_index.errors import Unreadable
from stackfix_knowledge.binaries.library import is_library, measure_library
from tests.knowledge.measure.building import elf, fatbin


def test_both_sections_of_gpu_code_count() -> None:
    data = elf(
        {".nv_fatbin": fatbin("sm_80 sm_90"), "__nv_relfatbin": fatbin("sm_80 sm_90", "sm_90")}
    )
    found = measure_library(data, name="libnccl.so.2").coverage
    assert sorted(found.containers.values()) == [1, 2]


def test_code_among_ordinary_data_counts_too() -> None:
    """cuFFT keeps its kernels in .ldata, cuSPARSELt in .rodata."""
    data = elf({".ldata": b"x" * 5 + fatbin("sm_80", "sm_90") + b"y" * 9})
    assert sum(measure_library(data, name="libcufft.so").coverage.containers.values()) == 2


def test_the_magic_by_chance_among_ordinary_data_is_passed_over() -> None:
    magic = fatbin("sm_80")[:4]
    noise = magic + bytes(40) + magic + b"\xff" * 40 + fatbin("sm_80")[:30] + magic
    data = elf({".rodata": noise + fatbin("sm_90") + magic})
    found = measure_library(data, name="lib.so").coverage.containers
    assert [" ".join(map(str, images)) for images in found] == ["sm_90"]


def test_the_magic_in_code_of_the_host_does_not_count() -> None:
    data = bytearray(elf({".text": fatbin("sm_80")}))
    table = struct.unpack_from("<Q", data, 40)[0]
    struct.pack_into("<Q", data, table + 3 * 64 + 8, 4)  # SHF_EXECINSTR
    assert not measure_library(bytes(data), name="lib.so").coverage.has_device_code


def test_sections_that_overlap_are_not_read_again_and_again() -> None:
    data = bytearray(elf({".a": b"x" * 5000, ".b": b"", ".c": b"", ".d": b""}))
    table, start = struct.unpack_from("<Q", data, 40)[0], 64
    for index in (4, 5, 6):
        struct.pack_into("<QQ", data, table + index * 64 + 24, start, 5000)
    with pytest.raises(Unreadable, match="expected sections that do not overlap"):
        measure_library(bytes(data), name="lib.so")


def test_an_empty_container_says_nothing() -> None:
    data = elf({".nv_fatbin": fatbin("")})
    assert not measure_library(data, name="lib.so").coverage.has_device_code


def test_the_newest_ptx_language_of_the_library_is_told() -> None:
    data = elf({".nv_fatbin": fatbin("compute_80", ptx=(8, 2)) + fatbin("compute_90", ptx=(8, 7))})
    assert measure_library(data, name="lib.so").ptx_version == (8, 7)


def test_host_code_has_no_ptx_language() -> None:
    assert measure_library(elf(), name="lib.so").ptx_version is None


@pytest.mark.parametrize(
    "name", ["lib.so", "a/libcudnn.so.9", "x.cpython-311-x86_64.so", "l.so.1.2"]
)
def test_libraries_are_known_by_their_names(name: str) -> None:
    assert is_library(name)


@pytest.mark.parametrize("name", ["lib.so.txt", "so", "libcudnn.so.9.hmac", "lib.dll", "x.sop"])
def test_other_files_are_no_libraries(name: str) -> None:
    assert not is_library(name)
