"""A library is its sections of GPU code plus what it asks the loader for."""

from stackfix_knowledge.measure.library import measure_library
from tests.knowledge.measure.building import elf, fatbin


def test_both_sections_of_gpu_code_count() -> None:
    data = elf(
        {".nv_fatbin": fatbin("sm_80 sm_90"), "__nv_relfatbin": fatbin("sm_80 sm_90", "sm_90")}
    )
    found = measure_library(data, name="libnccl.so.2").coverage
    assert sorted(found.containers.values()) == [1, 2]


def test_a_container_outside_those_sections_does_not_count() -> None:
    data = elf({".rodata": fatbin("sm_80")})
    assert not measure_library(data, name="lib.so").coverage.has_device_code


def test_an_empty_container_says_nothing() -> None:
    data = elf({".nv_fatbin": fatbin("")})
    assert not measure_library(data, name="lib.so").coverage.has_device_code


def test_the_newest_ptx_language_of_the_library_is_told() -> None:
    data = elf({".nv_fatbin": fatbin("compute_80", ptx=(8, 2)) + fatbin("compute_90", ptx=(8, 7))})
    assert measure_library(data, name="lib.so").ptx_version == (8, 7)


def test_host_code_has_no_ptx_language() -> None:
    assert measure_library(elf(), name="lib.so").ptx_version is None
