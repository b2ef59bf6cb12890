"""The host as data: what `stackfix host` prints and `--host FILE` reads back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["SCHEMA", "Card", "Host", "MigInstance", "Source", "System"]

SCHEMA = 1
"""Version of the JSON form. Rises only when a reader of the old form would misread the new one."""


class Source(StrEnum):
    """Where the knowledge about the cards comes from."""

    NVML = "nvml"
    PROC = "proc"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class MigInstance:
    """A slice of a card that CUDA sees as a device of its own."""

    uuid: str
    memory: int | None = None
    """Bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One physical GPU."""

    index: int
    """Position in the driver's own order, which is by PCI address."""
    name: str
    """As the driver writes it, "NVIDIA GeForce RTX 5090"; "10de:2b85" where only PCI is known."""
    capability: str | None
    """Compute capability "12.0"; None: the driver did not say and no table knows the name."""
    memory: int | None = None
    """Bytes."""
    uuid: str | None = None
    pci: str | None = None
    """"0000:01:00.0"."""
    visible: bool = True
    """False: CUDA_VISIBLE_DEVICES hides it."""
    mig: tuple[MigInstance, ...] = ()
    """Instances that may be used; only the first is when CUDA_VISIBLE_DEVICES names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What surrounds the cards."""

    platform: str
    """"linux_x86_64", "linux_aarch64", "win_amd64", "macos_arm64" or what Python calls it."""
    python: str
    kernel: str | None = None
    glibc: str | None = None
    shm: int | None = None
    """Size of /dev/shm in bytes: NCCL and data loaders need it."""
    container: bool = False
    wsl: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One machine at one moment."""

    source: Source
    cards: tuple[Card, ...]
    system: System
    driver: str | None = None
    cuda_driver: str | None = None
    """Highest CUDA version that the driver itself implements, "12.8"."""
    visible_devices: str | None = None
    """CUDA_VISIBLE_DEVICES as it was set; None: not set."""
    notes: tuple[str, ...] = ()
    """What could not be found out and why, one line each."""

    @property
    def visible(self) -> tuple[Card, ...]:
        """The cards that a CUDA program started here would see."""
        return tuple(card for card in self.cards if card.visible)
