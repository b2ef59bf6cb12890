"""CUDA outside every Python environment: libraries that the loader finds, and the ptxas on PATH."""

from __future__ import annotations

import json
import mmap
import os
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from stackfix.host.files import below, entries, folders, read
from stackfix.host.host import FoundBy, SystemLibrary

__all__ = ["find_ptxas", "ptxas_version", "read_libcuda", "read_libraries"]

_CUDA_LIBRARY = re.compile(
    r"lib(cudnn|nccl|cudart|cublas|cublasLt|nvrtc|nvJitLink)\.so(?:\.[\d.]+)?"
)
_VERSION = re.compile(r"\.so\.(\d[\d.]*)$")
_LIBCUDA = re.compile(r"libcuda\.so\.1")
_DRIVER_VERSION = re.compile(r"\.so\.(\d{3}\.[\d.]+)$")
_MOST_LIBRARIES = 256
_CACHE_BYTES = 16 << 20
_CACHE_MAGIC = b"glibc-ld.so.cache1.1"
_CACHE_HEADER = struct.Struct("<20sII20x")
_CACHE_ENTRY = struct.Struct("<iIIIQ")
"""The form of /etc/ld.so.cache: dl-cache.h of glibc, "glibc-ld.so.cache1.1"."""
_PTXAS_RELEASE = re.compile(rb"release \d{1,3}\.\d{1,3}, V(\d{1,3}\.\d{1,3}\.\d{1,4})")
"""As the program prints it with --version."""
_PTXAS_BYTES = 512 << 20
_SCRIPT_BYTES = 4096
_PTXAS_PATH = re.compile(r"(?<![\w./-])(/[\w.+/-]{1,200}/ptxas)\b")
_TOOLKIT = re.compile(r"cuda-(\d{1,3}\.\d{1,3})")


def read_libraries(root: Path, env: Mapping[str, str]) -> tuple[SystemLibrary, ...]:
    """Every copy once, in the order in which the loader looks."""
    found: dict[str, SystemLibrary] = {}
    places = [(path, FoundBy.LD_LIBRARY_PATH) for path in _on_path(root, env, _CUDA_LIBRARY)]
    places += [(path, FoundBy.LDCONFIG) for path in _in_cache(root)]
    for path, how in places:
        name = _CUDA_LIBRARY.fullmatch(path.rpartition("/")[2])
        if name is None or len(found) == _MOST_LIBRARIES:
            continue
        real = os.path.realpath(below(root, path))
        if real not in found:
            version = _VERSION.search(real)
            found[real] = SystemLibrary(
                name=name[1], path=path, found=how, version=version[1] if version else None
            )
    return tuple(found.values())


def read_libcuda(root: Path, env: Mapping[str, str]) -> str | None:
    """The version of the libcuda that the loader takes first; None: none, or its name has none.

    Not a fact about the driver: the package cuda-compat brings a libcuda of its own.
    """
    for path in (*_on_path(root, env, _LIBCUDA), *_in_cache(root)):
        if _LIBCUDA.fullmatch(path.rpartition("/")[2]):
            version = _DRIVER_VERSION.search(os.path.realpath(below(root, path)))
            return version[1] if version else None
    return None


def _on_path(root: Path, env: Mapping[str, str], names: re.Pattern[str]) -> Iterator[str]:
    for folder in folders(env.get("LD_LIBRARY_PATH")):
        for entry in entries(below(root, folder)) or []:
            if names.fullmatch(entry.name):
                yield f"{folder.rstrip('/')}/{entry.name}"


def _in_cache(root: Path) -> Iterator[str]:
    """Paths in the loader's cache. One in another byte order or form gives none."""
    try:
        with (root / "etc/ld.so.cache").open("rb") as file:
            data = file.read(_CACHE_BYTES)
    except OSError:
        return
    start = data.find(_CACHE_MAGIC)  # an older form may stand before it
    if start < 0 or len(data) < start + _CACHE_HEADER.size:
        return
    _, number, _ = _CACHE_HEADER.unpack_from(data, start)
    first = start + _CACHE_HEADER.size
    for index in range(min(number, (len(data) - first) // _CACHE_ENTRY.size)):
        _, _, value, _, _ = _CACHE_ENTRY.unpack_from(data, first + index * _CACHE_ENTRY.size)
        begin = start + value
        end = data.find(b"\0", begin, begin + 4096)
        if 0 <= begin < end:
            yield data[begin:end].decode(errors="replace")


def find_ptxas(root: Path, env: Mapping[str, str]) -> str | None:
    """The first ptxas on PATH: XLA and torch may compile kernels with it."""
    for folder in folders(env.get("PATH")):
        try:
            if os.access(below(root, folder) / "ptxas", os.X_OK):
                return f"{folder.rstrip('/')}/ptxas"
        except ValueError:
            continue
    return None


def ptxas_version(root: Path, path: str) -> str | None:
    """The CUDA of that ptxas, "12.8.93"; it is read, never run.

    From the program, from the one that a script starts, or from its toolkit's folder; None where
    none of them tells.
    """
    for place in (path, _started_by(root, path)):
        if place is not None:
            real = Path(os.path.realpath(below(root, place)))
            if version := _in_program(real) or _of_toolkit(real):
                return version
    return None


def _started_by(root: Path, path: str) -> str | None:
    """The ptxas that a short script names."""
    text = read(below(root, path), _SCRIPT_BYTES) or ""
    found = _PTXAS_PATH.search(text) if text.startswith("#!") else None
    return found[1] if found else None


def _in_program(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            if not 0 < os.fstat(file.fileno()).st_size <= _PTXAS_BYTES:
                return None
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                found = _PTXAS_RELEASE.search(data) if data[:4] == b"\x7fELF" else None
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
    named = _TOOLKIT.fullmatch(toolkit.name)
    return named[1] if named else None
