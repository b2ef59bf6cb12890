"""Opening logs: compressed, rotated, in folders, unreadable."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stackfix.diagnose import diagnose
from stackfix.diagnose.files import (
    LogError,
    LogFile,
    find_logs,
    open_log,
)

TEXT = b"RuntimeError: CUDA error: an illegal memory access was encountered\n"


def zstd(data: bytes) -> bytes:
    module = pytest.importorskip("backports.zstd")
    packed: bytes = module.compress(data)
    return packed


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zstd])
def test_a_log_may_be_compressed(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.log.z"
    path.write_bytes(pack(TEXT))
    assert diagnose([str(path)]).family.name == "kernel_memory_fault"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_a_compressed_log_may_be_cut(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "run.log.gz"
    data = pack(TEXT + bytes(range(256)) * 5000)
    path.write_bytes(data[: len(data) // 2])
    assert "could not be read to its end" in diagnose([str(path)]).notes[0]


def test_an_empty_log_is_unknown_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.touch()
    found = diagnose([str(path)])
    assert found.family.name == "unknown_cause"
    assert "empty" in found.why


def test_a_folder_gives_its_logs_and_leaves_out_what_is_none(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.log", "a.log", "sub/c.err", "model.safetensors", ".hidden"):
        (tmp_path / name).write_text("x\n")
    (tmp_path / "core").write_bytes(bytes(4096))
    (tmp_path / "config.json").write_text('{\n  "a": 1\n}\n')
    (tmp_path / "events.json").write_text('{"msg": "a"}\n{"msg": "b"}\n')
    assert [log.name for log in find_logs([str(tmp_path)])] == [
        "a.log",
        "b.log",
        "events.json",
        "sub/c.err",
    ]


def test_of_a_rotated_log_the_oldest_part_comes_first(tmp_path: Path) -> None:
    for name in ("run.log", "run.log.1", "run.log.2.gz", "run.log.10"):
        (tmp_path / name).write_text("x\n")
    names = [log.name for log in find_logs([str(tmp_path)])]
    assert names == ["run.log.10", "run.log.2.gz", "run.log.1", "run.log"]


def test_a_missing_log_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="expected a log file or a folder") as caught:
        find_logs([str(tmp_path / "nothing")])
    assert "\n" not in str(caught.value)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="at least one log"):
        find_logs([str(tmp_path)])


def test_a_log_that_may_not_be_read_is_one_line(tmp_path: Path) -> None:
    with (
        pytest.raises(LogError, match="expected a readable file"),
        open_log(LogFile(path=tmp_path, name="x")) as stream,
    ):
        stream.read(1)


def test_standard_input_is_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(TEXT)

    monkeypatch.setattr(sys, "stdin", Input())
    assert diagnose(["-"]).cause[0].where == "<stdin>:1"
