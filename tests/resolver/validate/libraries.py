"""Libraries like NVIDIA's: compiled, loadable, with a version of their own and GPU code."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.knowledge.measure.building import fatbin

needs_compiler = pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("objcopy")), reason="gcc and objcopy are needed"
)

_SOURCES = {
    "libcudnn.so.9": "unsigned long cudnnGetVersion(void) {{ return {number}; }}",
    "libnccl.so.2": "int ncclGetVersion(int *v) {{ *v = {number}; return 0; }}",
    "libcudart.so.12": "int cudaRuntimeGetVersion(int *v) {{ *v = {number}; return 0; }}",
    "libcudart.so.11.0": "int cudaRuntimeGetVersion(int *v) {{ *v = 0; return {number}; }}",
    "libcublas.so.12": (
        "int cublasGetProperty(int t, int *v)"
        " {{ *v = t == 0 ? {number} / 100 : t == 1 ? {number} / 10 % 10 : {number} % 10;"
        " return 0; }}"
    ),
}


def build(path: Path, number: int, *code: str) -> Path:
    """A library at `path` that tells `number`, with containers such as "sm_80 sm_90"."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.parent / f"{path.name}.c"
    source.write_text(_SOURCES[path.name].format(number=number))
    subprocess.run(
        ["gcc", "-shared", "-fPIC", f"-Wl,-soname,{path.name}", "-o", path, source], check=True
    )
    if code:
        source.write_bytes(fatbin(*code))
        subprocess.run(["objcopy", f"--add-section=.nv_fatbin={source}", path], check=True)
    source.unlink()
    return path


def build_part(path: Path) -> Path:
    """A library at `path` that can be loaded and has nothing in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["gcc", "-shared", "-o", path, "-x", "c", "/dev/null"], check=True)
    return path
