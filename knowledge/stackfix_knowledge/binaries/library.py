"""What one file of GPU code carries: a shared library, or a PTX assembler."""

from __future__ import annotations

import mmap
import re
from collections import Counter
from typing import NamedTuple

from stackfix_index.errors import Unreadable
from stackfix_knowledge.binaries.elf import Elf, read_elf
from stackfix_knowledge.binaries.fatbin import Budget, containers, embedded_containers
from stackfix_knowledge.cards.cuda import cuda_table
from stackfix_knowledge.hardware import Architecture
from stackfix_knowledge.wheels.coverage import LibraryCoverage
from stackfix_knowledge.wheels.release import Ptxas

__all__ = ["MeasuredLibrary", "is_library", "is_ptxas", "measure_library", "read_ptxas"]

_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
"""Where compilers put GPU code: linked code, and code that the driver can still link.

Some libraries keep most of theirs in sections of data and hand it to the driver themselves (cuFFT
in ``.ldata``, cuSPARSELt in ``.rodata``), so those are searched too.
"""


_LIBRARY = re.compile(r"\.so(\.\d+)*$")


class MeasuredLibrary(NamedTuple):
    """One shared library, measured."""

    coverage: LibraryCoverage
    """Its GPU code; empty where it has none."""
    elf: Elf
    """Its sections and what it asks the loader for."""
    ptx_version: tuple[int, int] | None
    """The newest PTX language version in it."""


def measure_library(data: bytes | mmap.mmap, *, name: str) -> MeasuredLibrary:
    """Measure the bytes of a shared library; raise Unreadable for a damaged one."""
    elf = read_elf(data, name=name)
    counts: Counter[frozenset[Architecture]] = Counter()
    ptx: tuple[int, int] | None = None
    budget = Budget(name)
    if sum(section.size for section in elf.sections) > 2 * len(data):
        raise Unreadable(name, "section table", "sections that do not overlap")
    for section in elf.sections:
        if section.executable or not section.size:
            continue
        read = containers if section.name in _SECTIONS else embedded_containers
        for container in read(data, section.offset, section.end, name=name, budget=budget):
            if container.images:
                counts[container.images] += 1
            if container.ptx_version:
                ptx = max(ptx or (0, 0), container.ptx_version)
    return MeasuredLibrary(
        coverage=LibraryCoverage(name=name, containers=counts), elf=elf, ptx_version=ptx
    )


_NAME = re.compile(r"(^|/)ptxas(-blackwell)?$")
_RELEASE = re.compile(rb"release \d{1,3}\.\d{1,3}, V(\d{1,3}\.\d{1,3}\.\d{1,4})")
# Linkers store a string that ends another one ("… on sm_89") only once, so blanks may stand before.
_TARGET = re.compile(rb"(?<![A-Za-z0-9_])(sm_\d{2,3}[af]?)\0")


def is_library(name: str) -> bool:
    """Whether a file of that name is a shared library: ``libcudnn.so.9``, ``_C.abi3.so``."""
    return _LIBRARY.search(name) is not None


def is_ptxas(name: str) -> bool:
    """Whether a file of that name is a PTX assembler."""
    return _NAME.search(name) is not None


def read_ptxas(data: bytes | mmap.mmap) -> Ptxas | None:
    """The assembler's toolkit and targets; None where it tells no version.

    Targets that its toolkit no longer supports are left out: their names linger in the program.
    """
    release = _RELEASE.search(data)
    if release is None:
        return None
    cuda = release[1].decode("ascii")
    oldest = cuda_table().oldest_card(int(cuda.partition(".")[0]))
    names = {found[1].decode("ascii") for found in _TARGET.finditer(data)}
    targets = sorted(
        target
        for target in map(Architecture.parse, names)
        if oldest is None or target.capability >= oldest
    )
    return Ptxas(cuda=cuda, targets=tuple(map(str, targets)))
