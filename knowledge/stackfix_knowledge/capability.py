"""The compute capability of a card: what its hardware can execute."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["ComputeCapability"]

_DOTTED = re.compile(r"(\d{1,2})\.(\d)")
_SM = re.compile(r"sm_(\d{1,2})(\d)")


@dataclass(frozen=True, slots=True, order=True)
class ComputeCapability:
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
