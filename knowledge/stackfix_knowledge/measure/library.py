"""What one shared library carries."""

from __future__ import annotations

import mmap
from collections import Counter
from dataclasses import dataclass

from stackfix_knowledge.architecture import Architecture
from stackfix_knowledge.coverage import LibraryCoverage
from stackfix_knowledge.measure.elf import Elf, read_elf
from stackfix_knowledge.measure.errors import MeasureError
from stackfix_knowledge.measure.fatbin import Budget, containers, embedded_containers

__all__ = ["MeasuredLibrary", "measure_library"]

_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
"""Where compilers put GPU code: linked code, and code that the driver can still link.

Some libraries keep most of theirs in sections of data and hand it to the driver themselves (cuFFT
in ``.ldata``, cuSPARSELt in ``.rodata``), so those are searched too.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLibrary:
    """One shared library, measured."""

    coverage: LibraryCoverage
    """Its GPU code; empty where it has none."""
    elf: Elf
    """Its sections and what it asks the loader for."""
    ptx_version: tuple[int, int] | None
    """The newest PTX language version in it."""


def measure_library(data: bytes | mmap.mmap, *, name: str) -> MeasuredLibrary:
    """Measure the bytes of a shared library; raise MeasureError for a damaged one."""
    elf = read_elf(data, name=name)
    counts: Counter[frozenset[Architecture]] = Counter()
    ptx: tuple[int, int] | None = None
    budget = Budget(name)
    if sum(section.size for section in elf.sections) > 2 * len(data):
        raise MeasureError(name, "section table", "sections that do not overlap")
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
