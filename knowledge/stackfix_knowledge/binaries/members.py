"""The files of a wheel, packed or installed, and what the binaries among them carry."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from stackfix_index.errors import Unreadable
from stackfix_knowledge.binaries.elf import is_elf
from stackfix_knowledge.binaries.library import (
    MeasuredLibrary,
    is_library,
    is_ptxas,
    measure_library,
    read_ptxas,
)
from stackfix_knowledge.wheels.coverage import Coverage
from stackfix_knowledge.wheels.release import Ptxas

__all__ = ["Binaries", "Members", "read_binaries"]

_SYSTEM = re.compile(
    r"(ld-linux.*|lib(c|m|dl|rt|pthread|util|gcc_s|stdc\+\+|resolv|z|atomic))\.so(\.\d+)*"
)
"""Libraries of every Linux system: no fact about a GPU stack."""

_LARGEST_PTXAS = 512 * 1024 * 1024
"""Bytes of a PTX assembler; the largest known has 50 MB."""


class Members(Protocol):
    """The files of a wheel by their paths in it. What cannot be read raises Unreadable."""

    @property
    def name(self) -> str:
        """What errors call the whole of it."""

    def names(self) -> tuple[str, ...]:
        """The paths of its files, each once."""

    def text(self, member: str) -> str:
        """A small file as text; bytes that are no UTF-8 become replacement characters."""

    def read(self, member: str, *, limit: int) -> bytes:
        """A small file as bytes; one larger than the limit (bytes) is an error."""

    def mapped(self, member: str) -> AbstractContextManager[bytes | mmap.mmap]:
        """A large file, readable until the context is left."""


class Binaries(NamedTuple):
    """What the binaries of a wheel, a folder or a single library carry."""

    coverage: Coverage
    needs: tuple[str, ...]
    """Shared libraries that they ask for and that are not among them, those of the system out."""
    ptxas: tuple[Ptxas, ...]
    ptx_version: tuple[int, int] | None
    """The newest PTX language version among them."""


def read_binaries(archive: Members, *, faults: list[Unreadable] | None = None) -> Binaries:
    """Measure every library and PTX assembler of a wheel, one at a time.

    A damaged one is added to `faults` and left out; without `faults` it raises.
    """
    found: list[MeasuredLibrary | Ptxas] = []
    for name in archive.names():
        try:
            measured = _member(archive, name)
        except Unreadable as fault:
            if faults is None:
                raise
            faults.append(fault)
            continue
        if measured is not None:
            found.append(measured)
    return binaries_of(
        [one for one in found if isinstance(one, MeasuredLibrary)],
        dict.fromkeys(one for one in found if isinstance(one, Ptxas)),
    )


def _member(archive: Members, name: str) -> MeasuredLibrary | Ptxas | None:
    """What a file of the wheel is, measured; None for anything but a library or assembler."""
    if is_library(name):
        with archive.mapped(name) as data:
            return measure_library(data, name=name) if is_elf(data[:6]) else None
    if is_ptxas(name):
        with archive.mapped(name) as data:
            return read_ptxas(data) if len(data) <= _LARGEST_PTXAS else None
    return None


def binaries_of(libraries: Iterable[MeasuredLibrary], assemblers: Iterable[Ptxas]) -> Binaries:
    """Put measured libraries together."""
    libraries = tuple(libraries)
    own = {library.coverage.name.rpartition("/")[2] for library in libraries}
    own |= {library.elf.soname for library in libraries if library.elf.soname}
    asked = {name for library in libraries for name in library.elf.needed}
    return Binaries(
        coverage=Coverage(
            libraries=tuple(
                sorted(
                    (lib.coverage for lib in libraries if lib.coverage.has_device_code),
                    key=lambda library: library.name,
                )
            )
        ),
        needs=tuple(sorted(n for n in asked - own if not _SYSTEM.fullmatch(n))),
        ptxas=tuple(assemblers),
        ptx_version=max((lib.ptx_version for lib in libraries if lib.ptx_version), default=None),
    )
