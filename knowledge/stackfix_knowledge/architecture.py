"""What one image of GPU code was built for, and on which cards it runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import total_ordering

from packaging.version import Version

from stackfix_knowledge.capability import ComputeCapability

__all__ = ["Architecture", "Kind"]

_FORM = re.compile(r"(sm|compute)_(\d{1,2})(\d)([af]?)")

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


class Kind(StrEnum):
    """The form that GPU code is stored in."""

    SASS = "sass"
    """Machine code: runs as it is."""
    PTX = "ptx"
    """Portable assembly: the driver compiles it when it is loaded."""


@total_ordering
@dataclass(frozen=True, slots=True)
class Architecture:
    """The target of one image, such as ``sm_90``, ``sm_90a``, ``sm_100f`` or ``compute_90``.

    Sorts machine code before PTX, then by capability, then plain, ``a``, ``f``.
    """

    kind: Kind
    """Machine code or PTX."""
    capability: ComputeCapability
    """The capability it was built for."""
    variant: str = ""
    """``""`` plain, ``"a"`` for that very card, ``"f"`` for its family."""

    @classmethod
    def parse(cls, text: str) -> Architecture:
        """Read a name as the CUDA compiler writes it; raise ValueError for anything else."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise ValueError(
                f"{text!r} is no GPU architecture: "
                'expected one like "sm_90", "sm_90a", "sm_100f" or "compute_90"'
            )
        kind = Kind.SASS if match[1] == "sm" else Kind.PTX
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
        if self.kind is Kind.PTX and not self.variant:
            return runs_as >= built_for
        if built_for.major != runs_as.major or runs_as.minor < built_for.minor:
            return False
        if self.kind is Kind.PTX or built_for == runs_as:
            return True
        if runs_as in _INTEGRATED:
            lifted = toolkit is not None and toolkit >= _LIFTED_FROM
            return lifted and built_for in _LIFTED.get(runs_as, frozenset())
        return built_for not in _INTEGRATED

    def __lt__(self, other: Architecture) -> bool:
        if not isinstance(other, Architecture):
            return NotImplemented
        return self._order < other._order

    @property
    def _order(self) -> tuple[bool, ComputeCapability, str]:
        return (self.kind is Kind.PTX, self.capability, self.variant)

    def __str__(self) -> str:
        prefix = "sm" if self.kind is Kind.SASS else "compute"
        return f"{prefix}_{self.capability.major}{self.capability.minor}{self.variant}"
