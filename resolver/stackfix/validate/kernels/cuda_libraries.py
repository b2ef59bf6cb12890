"""NVIDIA's libraries in a process and on disk: their names, places and own versions."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterator

LIBRARIES = {
    # what packages call it: stem of the file's name
    "cudart": "libcudart",
    "nvrtc": "libnvrtc",
    "nvjitlink": "libnvJitLink",
    "cublas": "libcublas",
    "curand": "libcurand",
    "cufft": "libcufft",
    "cusparse": "libcusparse",
    "cusolver": "libcusolver",
    "cudnn": "libcudnn",
    "nccl": "libnccl",
}
_PARTS = {"libcublasLt": "cublas", "libcusolverMg": "cusolver", "libcufftw": "cufft"}
"""Files of a library that are called otherwise. libcusparseLt is a library of its own."""
_INSUFFICIENT_DRIVER = 35
_FILE = re.compile(r"(lib\w+?)(?:-[0-9a-f]{8})?\.so(?:\.[\d.]+)?$")


def default_sites() -> list[str]:
    """The folders that this Python takes packages from."""
    return [path for path in sys.path if path.endswith("-packages")]


def stem_of(name: str) -> str | None:
    """ "libcudnn_ops" for "libcudnn_ops.so.9"; None for what is no shared library."""
    found = _FILE.match(name)
    return found[1] if found else None


def family_of(name: str) -> str | None:
    """ "cudnn" for "libcudnn_ops.so.9"; None for a file of none of these libraries."""
    stem = stem_of(name)
    if stem is None:
        return None
    for family, own in LIBRARIES.items():
        if stem == own or stem.startswith(f"{own}_"):
            return family
    return _PARTS.get(stem)


def mapped(maps: str = "/proc/self/maps") -> list[str]:
    """Paths of the shared libraries in this process, each once, in their order in memory."""
    found: dict[str, None] = {}
    with open(maps, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            parts = line.rstrip("\n").split(None, 5)
            if len(parts) == 6 and parts[5].startswith("/") and ".so" in parts[5]:
                found[parts[5].removesuffix(" (deleted)")] = None
    return list(found)


def installed(sites: list[str]) -> dict[str, list[str]]:
    """Family -> files of it in the folders that packages are installed in, main library first."""
    found: dict[str, list[str]] = {}
    for site in sites:
        for folder, _, names in sorted(os.walk(site)):
            for name in sorted(names):
                if family := family_of(name):
                    found.setdefault(family, []).append(os.path.join(folder, name))
    for family, paths in found.items():
        paths.sort(key=lambda path: stem_of(os.path.basename(path)) != LIBRARIES[family])
    return found


def main_library(family: str, paths: list[str]) -> str | None:
    """The file among `paths` that the whole family is named after: libcudnn.so.9."""
    own = LIBRARIES[family]
    return next((p for p in paths if stem_of(os.path.basename(p)) == own), None)


def version_of(family: str, path: str) -> tuple[int, ...] | None:
    """What the library says of itself, as (9, 5, 1); None where it does not say.

    Raises OSError where it cannot be loaded. None of the calls needs a card; CUDA 11's runtime
    needs a driver.
    """
    library = ctypes.CDLL(path)
    ask = _ASK[family]
    try:
        return ask(library)
    except AttributeError:
        return None


def _cudnn(library: ctypes.CDLL) -> tuple[int, ...]:
    function = library.cudnnGetVersion
    function.restype = ctypes.c_size_t
    number = int(function())
    # 9.5.1 is 90501, and 8.9.7 is 8907.
    thousands = 10000 if number >= 10000 else 1000
    return (number // thousands, number % thousands // 100, number % 100)


def _nccl(library: ctypes.CDLL) -> tuple[int, ...]:
    value = ctypes.c_int()
    if status := library.ncclGetVersion(ctypes.byref(value)):
        raise OSError(f"ncclGetVersion returned {status}")
    number = value.value
    # 2.26.2 is 22602; up to 2.8 it was 2804 for 2.8.4.
    if number < 10000:
        return (number // 1000, number % 1000 // 100, number % 100)
    return (number // 10000, number % 10000 // 100, number % 100)


def _cudart(library: ctypes.CDLL) -> tuple[int, ...] | None:
    value = ctypes.c_int()
    # Before CUDA 12 this call, too, wanted a driver, and where there is none says 35.
    if status := library.cudaRuntimeGetVersion(ctypes.byref(value)):
        if status == _INSUFFICIENT_DRIVER:
            return None
        raise OSError(f"cudaRuntimeGetVersion returned {status}")
    return (value.value // 1000, value.value % 1000 // 10)


def _two(name: str) -> Callable[[ctypes.CDLL], tuple[int, ...]]:
    def ask(library: ctypes.CDLL) -> tuple[int, ...]:
        first, second = ctypes.c_int(), ctypes.c_int()
        if status := getattr(library, name)(ctypes.byref(first), ctypes.byref(second)):
            raise OSError(f"{name} returned {status}")
        return (first.value, second.value)

    return ask


def _property(name: str) -> Callable[[ctypes.CDLL], tuple[int, ...]]:
    """For libraries with a GetProperty: 0, 1 and 2 ask for major, minor and patch."""

    def ask(library: ctypes.CDLL) -> tuple[int, ...]:
        function = getattr(library, name)
        parts = []
        for which in range(3):
            value = ctypes.c_int()
            if status := function(which, ctypes.byref(value)):
                raise OSError(f"{name} returned {status}")
            parts.append(value.value)
        return tuple(parts)

    return ask


_ASK: dict[str, Callable[[ctypes.CDLL], tuple[int, ...] | None]] = {
    "cudart": _cudart,
    "nvrtc": _two("nvrtcVersion"),
    "nvjitlink": _two("nvJitLinkVersion"),
    "cublas": _property("cublasGetProperty"),
    "curand": _property("curandGetProperty"),
    "cufft": _property("cufftGetProperty"),
    "cusparse": _property("cusparseGetProperty"),
    "cusolver": _property("cusolverGetProperty"),
    "cudnn": _cudnn,
    "nccl": _nccl,
}


def differs(found: tuple[int, ...], package: str) -> bool:
    """Whether a library's version is another than its package's: 9.5.1 is 9.5.1.17's own."""
    numbers = re.match(r"\d+(?:\.\d+)*", package)
    parts = tuple(int(part) for part in numbers[0].split(".")) if numbers else ()
    shared = min(len(parts), len(found))
    return parts[:shared] != found[:shared]


def shadows(library_path: str, families: set[str]) -> Iterator[tuple[str, str]]:
    """Folders of an LD_LIBRARY_PATH that hold a library of these families: (folder, file).

    Of most libraries the main file counts, which frameworks ask for by name. cuDNN's parts are
    loaded by cuDNN itself when they are first needed, and LD_LIBRARY_PATH comes before the
    RUNPATH that it looks for them with.
    """
    for folder in library_path.split(os.pathsep):
        try:
            names = sorted(os.listdir(folder)) if folder else []
        except OSError:
            continue
        for name in names:
            family = family_of(name)
            if family in families and (family == "cudnn" or stem_of(name) == LIBRARIES[family]):
                yield folder, name
