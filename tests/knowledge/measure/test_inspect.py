"""Inspecting what lies on disk: a wheel, a folder, one library."""

import os
from pathlib import Path

import pytest

from stackfix_knowledge.measure.errors import MeasureError
from stackfix_knowledge.measure.inspect import Inspection, inspect_path
from tests.knowledge.measure.building import NCCL_WHEEL, elf, fatbin, nccl_wheel

LIBRARY = elf({".nv_fatbin": fatbin("sm_80 sm_90")}, needed=["libcudart.so.12"])


def names(found: Inspection) -> list[str]:
    return [library.name for library in found.binaries.coverage.libraries]


def test_a_wheel(tmp_path: Path) -> None:
    path = tmp_path / NCCL_WHEEL
    path.write_bytes(nccl_wheel())
    assert names(inspect_path(path)) == ["nvidia/nccl/lib/libnccl.so.2"]


def test_one_library(tmp_path: Path) -> None:
    path = tmp_path / "libx.so.2"
    path.write_bytes(LIBRARY)
    found = inspect_path(path)
    assert names(found) == ["libx.so.2"]
    assert found.binaries.needs == ("libcudart.so.12",)


def test_a_folder_with_everything_below_it(tmp_path: Path) -> None:
    for name in ("b/lib/libx.so.2", "a/_C.abi3.so"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(LIBRARY)
    (tmp_path / "host.so").write_bytes(elf())
    (tmp_path / "ptxas").write_bytes(b"\x7fELF\x02\x01\0sm_120\0release 12.8, V12.8.93\0")
    found = inspect_path(tmp_path)
    assert names(found) == ["a/_C.abi3.so", "b/lib/libx.so.2"]
    assert [ptxas.cuda for ptxas in found.binaries.ptxas] == ["12.8.93"]
    assert found.faults == ()


def test_a_file_with_two_names_counts_once_and_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.so").write_bytes(LIBRARY)
    (tmp_path / "b.so").hardlink_to(tmp_path / "a.so")
    (tmp_path / "c.so").symlink_to(tmp_path / "a.so")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert names(inspect_path(tmp_path)) == ["a.so"]


def test_a_broken_library_in_a_folder_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "bad.so").write_bytes(LIBRARY[:200])
    (tmp_path / "good.so").write_bytes(LIBRARY)
    found = inspect_path(tmp_path)
    assert names(found) == ["good.so"]
    assert [fault.source for fault in found.faults] == ["bad.so"]


def test_a_pipe_in_a_folder_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.so")
    assert names(inspect_path(tmp_path)) == []


@pytest.mark.parametrize("name", ["none", "note.txt", "pipe"])
def test_anything_else_is_one_clear_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "note.txt").write_text("hello")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MeasureError, match="expected a wheel, a folder or a shared library"):
        inspect_path(tmp_path / name)
