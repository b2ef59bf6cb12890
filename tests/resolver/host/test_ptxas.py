"""The ptxas on PATH and its version, read and never run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackfix.host.ptxas import find_ptxas, ptxas_version
from tests.resolver.host.test_kernel import write

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
