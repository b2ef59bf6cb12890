"""What cards and drivers are told by, and what GPU code was built for.

Compute capabilities, the architectures that code is compiled for, and versions of the driver: the
values that most facts speak of.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import total_ordering
from typing import NamedTuple

from packaging.version import Version

__all__ = ["Architecture", "CodeKind", "ComputeCapability", "DriverVersion"]

_DOTTED = re.compile(r"(\d{1,2})\.(\d)")
_SM = re.compile(r"sm_(\d{1,2})(\d)")


class ComputeCapability(NamedTuple):
    """A card's compute capability, such as 12.0; ordered by major, then minor.

    NVIDIA renamed 10.1 to 11.0 in CUDA 13: both name one device (Thor). The two stay different
    values here, since each is what some table or tool reports; :attr:`device` joins them.
    """

    major: int
    """Generation of the card: 8 is Ampere and Ada, 9 Hopper, 10 and 12 Blackwell."""
    minor: int
    """Revision within the generation."""

    @classmethod
    def parse(cls, text: str) -> ComputeCapability:
        """Read ``"12.0"`` or ``"sm_120"``; raise ValueError for anything else."""
        match = _DOTTED.fullmatch(text) or _SM.fullmatch(text)
        if match is None:
            raise ValueError(
                f'{text!r} is no compute capability: expected one like "8.9" or "sm_89"'
            )
        return cls(int(match[1]), int(match[2]))

    @property
    def sm(self) -> str:
        """The name that compilers use, such as ``sm_120``."""
        return f"sm_{self.major}{self.minor}"

    @property
    def device(self) -> ComputeCapability:
        """The capability that stands for this device: 11.0 for 10.1, itself otherwise."""
        return ComputeCapability(11, 0) if (self.major, self.minor) == (10, 1) else self

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


_ARCHITECTURE = re.compile(r"(sm|compute)_(\d{1,2})(\d)([af]?)")

_INTEGRATED = frozenset(
    ComputeCapability(major, minor) for major, minor in ((5, 3), (6, 2), (7, 2), (8, 7))
)
"""Jetson-class parts that take only code built for them, and whose code runs nowhere else.

Source: ``torch/cuda/__init__.py`` of torch 2.15.0, its table of device requirements.
"""

_LIFTED_FROM = Version("13.2")
"""The CUDA toolkit whose code for 7.0, 8.0 and 8.6 runs on 7.2 and 8.7 too (same source)."""

_LIFTED = {
    ComputeCapability(7, 2): frozenset({ComputeCapability(7, 0)}),
    ComputeCapability(8, 7): frozenset({ComputeCapability(8, 0), ComputeCapability(8, 6)}),
}


class CodeKind(StrEnum):
    """The form that GPU code is stored in."""

    SASS = "sass"
    """Machine code: runs as it is."""
    PTX = "ptx"
    """Portable assembly: the driver compiles it when it is loaded."""


@total_ordering
class Architecture:
    """The target of one image, such as ``sm_90``, ``sm_90a``, ``sm_100f`` or ``compute_90``.

    Sorts machine code before PTX, then by capability, then plain, ``a``, ``f``.
    """

    __slots__ = ("_order", "capability", "kind", "variant")

    def __init__(self, kind: CodeKind, capability: ComputeCapability, variant: str = "") -> None:
        self.kind = kind
        """Machine code or PTX."""
        self.capability = capability
        """The capability it was built for."""
        self.variant = variant
        """``""`` plain, ``"a"`` for that very card, ``"f"`` for its family."""
        self._order = (kind is CodeKind.PTX, capability, variant)

    @classmethod
    def parse(cls, text: str) -> Architecture:
        """Read a name as the CUDA compiler writes it; raise ValueError for anything else."""
        match = _ARCHITECTURE.fullmatch(text)
        if match is None:
            raise ValueError(
                f"{text!r} is no GPU architecture: "
                'expected one like "sm_90", "sm_90a", "sm_100f" or "compute_90"'
            )
        kind = CodeKind.SASS if match[1] == "sm" else CodeKind.PTX
        return cls(kind, ComputeCapability(int(match[2]), int(match[3])), match[4])

    def runs_on(self, card: ComputeCapability, *, toolkit: Version | None = None) -> bool:
        """Whether a card of that capability can run this image.

        For PTX the answer leaves the driver out: it must also be new enough for the toolkit that
        wrote the PTX. ``toolkit`` is the CUDA version that built the image, None when unknown.

        Machine code runs on the same major and the same or a later minor. ``a`` runs on
        exactly its card, ``f`` within its major. Integrated parts take only their own code.
        """
        built_for, runs_as = self.capability.device, card.device
        if self.variant == "a":
            return built_for == runs_as
        if self.kind is CodeKind.PTX and not self.variant:
            return runs_as >= built_for
        if built_for.major != runs_as.major or runs_as.minor < built_for.minor:
            return False
        if self.kind is CodeKind.PTX or built_for == runs_as:
            return True
        if runs_as in _INTEGRATED:
            lifted = toolkit is not None and toolkit >= _LIFTED_FROM
            return lifted and built_for in _LIFTED.get(runs_as, frozenset())
        return built_for not in _INTEGRATED

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Architecture):
            return NotImplemented
        return self._order == other._order

    def __lt__(self, other: Architecture) -> bool:
        if not isinstance(other, Architecture):
            return NotImplemented
        return self._order < other._order

    def __hash__(self) -> int:
        return hash(self._order)

    def __repr__(self) -> str:
        return f"Architecture.parse({str(self)!r})"

    def __str__(self) -> str:
        prefix = "sm" if self.kind is CodeKind.SASS else "compute"
        return f"{prefix}_{self.capability.major}{self.capability.minor}{self.variant}"


_DRIVER = re.compile(r"\d{1,4}(\.\d{1,5}){0,3}")


@total_ordering
class DriverVersion:
    """A driver's version; keeps its text and compares by numbers.

    ``570.133.07`` equals ``570.133.7``, and a bare branch, ``570``, is its lowest version.
    Building one from any other text raises ValueError.
    """

    __slots__ = ("numbers", "text")

    def __init__(self, text: str) -> None:
        if _DRIVER.fullmatch(text) is None:
            raise ValueError(
                f'{text!r} is no driver version: expected one like "570.133.07" or "570"'
            )
        self.text = text
        """As the driver writes it, with its leading zeros."""
        self.numbers = _without_zeros([int(part) for part in text.split(".")])
        """The parts as numbers, without the zeros at the end."""

    @classmethod
    def parse(cls, text: str) -> DriverVersion:
        """Read a version, with blanks around it allowed."""
        return cls(text.strip())

    @property
    def branch(self) -> int:
        """The driver's branch: 570 for ``570.133.07``."""
        return self.numbers[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DriverVersion):
            return NotImplemented
        return self.numbers == other.numbers

    def __lt__(self, other: DriverVersion) -> bool:
        if not isinstance(other, DriverVersion):
            return NotImplemented
        return self.numbers < other.numbers

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"DriverVersion({self.text!r})"


def _without_zeros(parts: list[int]) -> tuple[int, ...]:
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return tuple(parts)
