"""Which architectures a PTX assembler names, read from the strings of the program."""

from __future__ import annotations

import mmap
import re

from stackfix_knowledge.architecture import Architecture
from stackfix_knowledge.capability import ComputeCapability
from stackfix_knowledge.release import Ptxas

__all__ = ["is_ptxas", "read_ptxas"]

_NAME = re.compile(r"(^|/)ptxas(-blackwell)?$")
_RELEASE = re.compile(rb"release \d{1,3}\.\d{1,3}, V(\d{1,3}\.\d{1,3}\.\d{1,4})")
# Linkers store a string that ends another one ("… on sm_89") only once, so blanks may stand before.
_TARGET = re.compile(rb"(?<![A-Za-z0-9_])(sm_\d{2,3}[af]?)\0")

_OLDEST = {11: "3.5", 12: "5.0", 13: "7.5"}
"""Oldest capability by CUDA major: the names of older ones linger in the program.

Source: release notes of CUDA 11.0, 12.0 and 13.0, deprecated and dropped features.
"""


def is_ptxas(name: str) -> bool:
    """Whether a file of that name is a PTX assembler."""
    return _NAME.search(name) is not None


def read_ptxas(data: bytes | mmap.mmap) -> Ptxas | None:
    """The assembler's toolkit and targets; None where it tells no version."""
    release = _RELEASE.search(data)
    if release is None:
        return None
    cuda = release[1].decode("ascii")
    oldest = ComputeCapability.parse(_OLDEST.get(int(cuda.partition(".")[0]), "5.0"))
    names = {found[1].decode("ascii") for found in _TARGET.finditer(data)}
    targets = sorted(Architecture.parse(name) for name in names)
    return Ptxas(cuda=cuda, targets=tuple(str(t) for t in targets if t.capability >= oldest))
