"""Copies of CUDA's libraries outside the environment."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from stackfix.host.host import Found, Library
from stackfix.host.libraries import read_libcuda, read_libraries
from tests.resolver.host.test_kernel import write


def cache(*paths: str) -> bytes:
    """The loader's cache with these libraries, after a header of the older form."""
    strings, offsets = b"", []
    start = 48 + 24 * len(paths)
    for path in paths:
        offsets.append(start + len(strings))
        strings += path.encode() + b"\0"
    header = b"glibc-ld.so.cache1.1" + struct.pack("<II20x", len(paths), len(strings))
    table = b"".join(struct.pack("<iIIIQ", 3, offset, offset, 0, 0) for offset in offsets)
    return b"ld.so-1.7.0\0" + bytes(4) + header + table + strings


def put_cache(root: Path, data: bytes) -> None:
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/ld.so.cache").write_bytes(data)


def test_the_search_path_comes_before_the_cache(tmp_path: Path) -> None:
    write(tmp_path / "opt/cuda/libcudnn.so.9.5.1", "")
    os.symlink("libcudnn.so.9.5.1", tmp_path / "opt/cuda/libcudnn.so.9")
    write(tmp_path / "usr/lib/libnccl.so.2", "")
    put_cache(
        tmp_path, cache("/opt/cuda/libcudnn.so.9", "/usr/lib/libnccl.so.2", "/usr/lib/libc.so.6")
    )
    assert read_libraries(tmp_path, {"LD_LIBRARY_PATH": "/none:/opt/cuda/"}) == (
        Library(
            name="cudnn",
            path="/opt/cuda/libcudnn.so.9",
            found=Found.LD_LIBRARY_PATH,
            version="9.5.1",
        ),
        Library(name="nccl", path="/usr/lib/libnccl.so.2", found=Found.LDCONFIG, version="2"),
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"glibc-ld.so.cache1.1",
        b"\xff" * 4096,
        cache("/usr/lib/libnccl.so.2")[:60],
        b"glibc-ld.so.cache1.1" + b"\xff" * 4096,
    ],
)
def test_a_broken_cache_holds_nothing(tmp_path: Path, data: bytes) -> None:
    put_cache(tmp_path, data)
    assert read_libraries(tmp_path, {}) == ()


def put_libcuda(root: Path, folder: str, version: str) -> None:
    write(root / folder / f"libcuda.so.{version}", "")
    os.symlink(f"libcuda.so.{version}", root / folder / "libcuda.so.1")


def test_the_libcuda_that_programs_load_is_the_first_one(tmp_path: Path) -> None:
    put_libcuda(tmp_path, "usr/lib", "535.183.01")
    put_libcuda(tmp_path, "usr/local/cuda/compat", "580.65.06")
    put_cache(tmp_path, cache("/usr/lib/libcuda.so.1"))
    assert read_libcuda(tmp_path, {}) == "535.183.01"
    env = {"LD_LIBRARY_PATH": "/none:/usr/local/cuda/compat"}
    assert read_libcuda(tmp_path, env) == "580.65.06"
    put_cache(tmp_path, cache("/usr/local/cuda/compat/libcuda.so.1", "/usr/lib/libcuda.so.1"))
    assert read_libcuda(tmp_path, {}) == "580.65.06"  # as NVIDIA's images set ldconfig up


def test_a_libcuda_without_a_drivers_version_in_its_name_tells_nothing(tmp_path: Path) -> None:
    put_libcuda(tmp_path, "usr/lib/wsl/lib", "1.1")
    put_cache(tmp_path, cache("/usr/lib/wsl/lib/libcuda.so.1"))
    assert read_libcuda(tmp_path, {}) is None
    put_cache(tmp_path, cache("/usr/lib/libc.so.6"))
    assert read_libcuda(tmp_path, {}) is None
