"""The ptxas on PATH: what XLA and torch may compile kernels with. It is read, never run."""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Mapping
from pathlib import Path

from stackfix.host.files import below, folders, read

__all__ = ["find_ptxas", "ptxas_version"]

_RELEASE = re.compile(rb"release \d{1,3}\.\d{1,3}, V(\d{1,3}\.\d{1,3}\.\d{1,4})")
"""As the program prints it with --version."""
_LARGEST = 512 << 20
_SCRIPT = 4096
_TARGET = re.compile(r"(?<![\w./-])(/[\w.+/-]{1,200}/ptxas)\b")
_IN_NAME = re.compile(r"cuda-(\d{1,3}\.\d{1,3})")


def find_ptxas(root: Path, env: Mapping[str, str]) -> str | None:
    """The first one on PATH."""
    for folder in folders(env.get("PATH")):
        try:
            if os.access(below(root, folder) / "ptxas", os.X_OK):
                return f"{folder.rstrip('/')}/ptxas"
        except ValueError:
            continue
    return None


def ptxas_version(root: Path, path: str) -> str | None:
    """Its CUDA: from the program, from the one that a script starts, or from its toolkit's folder.

    None where none of them tells.
    """
    for place in (path, _started_by(root, path)):
        if place is not None:
            real = Path(os.path.realpath(below(root, place)))
            if version := _in_program(real) or _of_toolkit(real):
                return version
    return None


def _started_by(root: Path, path: str) -> str | None:
    """The ptxas that a short script names."""
    text = read(below(root, path), _SCRIPT) or ""
    found = _TARGET.search(text) if text.startswith("#!") else None
    return found[1] if found else None


def _in_program(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            if not 0 < os.fstat(file.fileno()).st_size <= _LARGEST:
                return None
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                found = _RELEASE.search(data) if data[:4] == b"\x7fELF" else None
                return found[1].decode("ascii") if found else None
    except (OSError, ValueError):
        return None


def _of_toolkit(path: Path) -> str | None:
    """From version.json beside `bin`, else from the folder's name, "cuda-12.8"."""
    toolkit = path.parent.parent
    try:
        known = json.loads(read(toolkit / "version.json") or "null")
        version = known["cuda_nvcc"]["version"]
    except (ValueError, RecursionError, TypeError, KeyError):
        version = None
    if isinstance(version, str) and re.fullmatch(r"[\d.]{1,20}", version):
        return version
    named = _IN_NAME.fullmatch(toolkit.name)
    return named[1] if named else None
