"""Copies of CUDA's libraries that the loader finds outside every Python environment.

Source of the layout of /etc/ld.so.cache: dl-cache.h of glibc, "glibc-ld.so.cache1.1".
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from stackfix.host.files import below, entries, folders
from stackfix.host.host import Found, Library

__all__ = ["read_libcuda", "read_libraries"]

_OURS = re.compile(r"lib(cudnn|nccl|cudart|cublas|cublasLt|nvrtc|nvJitLink)\.so(?:\.[\d.]+)?")
_VERSION = re.compile(r"\.so\.(\d[\d.]*)$")
_LIBCUDA = re.compile(r"libcuda\.so\.1")
_DRIVER = re.compile(r"\.so\.(\d{3}\.[\d.]+)$")
_MOST_LIBRARIES = 256
_MOST_BYTES = 16 << 20
_MAGIC = b"glibc-ld.so.cache1.1"
_HEADER = struct.Struct("<20sII20x")
_ENTRY = struct.Struct("<iIIIQ")


def read_libraries(root: Path, env: Mapping[str, str]) -> tuple[Library, ...]:
    """Every copy once, in the order in which the loader looks."""
    found: dict[str, Library] = {}
    places = [(path, Found.LD_LIBRARY_PATH) for path in _on_path(root, env, _OURS)]
    places += [(path, Found.LDCONFIG) for path in _in_cache(root)]
    for path, how in places:
        name = _OURS.fullmatch(path.rpartition("/")[2])
        if name is None or len(found) == _MOST_LIBRARIES:
            continue
        real = os.path.realpath(below(root, path))
        if real not in found:
            version = _VERSION.search(real)
            found[real] = Library(
                name=name[1], path=path, found=how, version=version[1] if version else None
            )
    return tuple(found.values())


def read_libcuda(root: Path, env: Mapping[str, str]) -> str | None:
    """The version of the libcuda that the loader takes first; None: none, or its name has none.

    Not a fact about the driver: the package cuda-compat brings a libcuda of its own.
    """
    for path in (*_on_path(root, env, _LIBCUDA), *_in_cache(root)):
        if _LIBCUDA.fullmatch(path.rpartition("/")[2]):
            version = _DRIVER.search(os.path.realpath(below(root, path)))
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
            data = file.read(_MOST_BYTES)
    except OSError:
        return
    start = data.find(_MAGIC)  # an older form may stand before it
    if start < 0 or len(data) < start + _HEADER.size:
        return
    _, number, _ = _HEADER.unpack_from(data, start)
    first = start + _HEADER.size
    for index in range(min(number, (len(data) - first) // _ENTRY.size)):
        _, _, value, _, _ = _ENTRY.unpack_from(data, first + index * _ENTRY.size)
        begin = start + value
        end = data.find(b"\0", begin, begin + 4096)
        if 0 <= begin < end:
            yield data[begin:end].decode(errors="replace")
