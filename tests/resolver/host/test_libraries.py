"""Copies of CUDA's libraries and programs outside the environment."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import pytest

from stackfix.host.host import FoundBy, SystemLibrary
from stackfix.host.libraries import find_ptxas, ptxas_version, read_libcuda, read_libraries
from tests.resolver.host.test_devices import write


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
        SystemLibrary(
            name="cudnn",
            path="/opt/cuda/libcudnn.so.9",
            found=FoundBy.LD_LIBRARY_PATH,
            version="9.5.1",
        ),
        SystemLibrary(
            name="nccl", path="/usr/lib/libnccl.so.2", found=FoundBy.LDCONFIG, version="2"
        ),
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


SAYS = b"\x7fELF" + bytes(60) + b"Cuda compilation tools, release 12.8, V12.8.93\0"
"""What stands in the program of CUDA 12.8."""


def program(path: Path, data: bytes = SAYS) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o755)


def test_it_is_the_first_on_the_path_that_can_be_run(tmp_path: Path) -> None:
    write(tmp_path / "a/ptxas", "")
    program(tmp_path / "b/ptxas")
    assert find_ptxas(tmp_path, {"PATH": "bin:/a:/b"}) == "/b/ptxas"
    assert find_ptxas(tmp_path, {"PATH": "/a"}) is None


def test_the_program_tells_its_version(tmp_path: Path) -> None:
    program(tmp_path / "b/ptxas")
    assert ptxas_version(tmp_path, "/b/ptxas") == "12.8.93"


def test_a_script_is_followed_to_the_program_it_starts_and_not_run(tmp_path: Path) -> None:
    program(tmp_path / "opt/cuda/bin/ptxas")
    script = f'#!/bin/sh\ntouch {tmp_path}/ran\nexec "/opt/cuda/bin/ptxas" "$@"\n'
    program(tmp_path / "b/ptxas", script.encode())
    assert ptxas_version(tmp_path, "/b/ptxas") == "12.8.93"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("folder", "statement", "version"),
    [
        ("opt/cuda", json.dumps({"cuda_nvcc": {"version": "12.4.131"}}), "12.4.131"),
        ("opt/cuda-12.6", None, "12.6"),
        ("opt/cuda-12.6", "not json", "12.6"),
        ("opt/cuda-12.6", "[" * 10_000, "12.6"),
        ("opt/cuda-12.6", json.dumps({"cuda_nvcc": {"version": "\x1b[2J"}}), "12.6"),
        ("opt/cuda", json.dumps({"cuda_nvcc": 7}), None),
        ("opt/cuda", None, None),
    ],
)
def test_a_program_that_tells_none_has_its_toolkits(
    tmp_path: Path, folder: str, statement: str | None, version: str | None
) -> None:
    program(tmp_path / folder / "bin/ptxas", b"\x7fELF")
    if statement is not None:
        write(tmp_path / folder / "version.json", statement)
    assert ptxas_version(tmp_path, f"/{folder}/bin/ptxas") == version


@pytest.mark.parametrize(
    "data", [b"", b"\x7fELF", b"#!/bin/sh\nexec ptxas\n", b"release 12.8, V12"]
)
def test_what_tells_nothing_is_not_known(tmp_path: Path, data: bytes) -> None:
    program(tmp_path / "b/ptxas", data)
    assert ptxas_version(tmp_path, "/b/ptxas") is None


def test_a_link_leads_to_its_toolkit(tmp_path: Path) -> None:
    program(tmp_path / "opt/cuda-12.6/bin/ptxas", b"\x7fELF")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/ptxas").symlink_to("../opt/cuda-12.6/bin/ptxas")
    assert ptxas_version(tmp_path, "/b/ptxas") == "12.6"
