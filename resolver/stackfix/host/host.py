"""The host as data: what `stackfix host` prints and `--host FILE` reads back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from stackfix.host.fabric import Fabric, NvLinks
from stackfix.host.kernel_log import KernelLog
from stackfix.host.link import Link
from stackfix.host.memory import Repairs

__all__ = [
    "UNLIMITED",
    "Card",
    "Found",
    "Host",
    "Interface",
    "Iommu",
    "Library",
    "MigInstance",
    "Source",
    "System",
]

UNLIMITED = -1
"""A limit that is set to none; None stands for one that could not be read."""


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
    capability: str | None = None
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
    numa: int | None = None
    """NUMA node that the card hangs on; None: the firmware does not say, or has no nodes."""
    peers: tuple[int, ...] | None = None
    """Cards whose memory it reads directly, by index; None: the driver did not tell of all."""
    ecc: bool | None = None
    """Whether memory errors are corrected; None: the card cannot, or the driver did not tell."""
    ecc_errors: int | None = None
    """Memory errors since the driver was loaded that could not be corrected."""
    ecc_corrected: int | None = None
    """Those that could."""
    repairs: Repairs | None = None
    """Bad memory that was taken out of use; None: the card does not tell."""
    nvlinks: NvLinks | None = None
    """None: it has none, or the driver does not tell."""
    fabric: Fabric | None = None
    """None: it takes part in none, or the driver does not tell."""


class Iommu(StrEnum):
    """What the IOMMU does with what the cards write."""

    OFF = "off"
    ON = "on"
    """Present, in a mode that could not be read."""
    PASSTHROUGH = "passthrough"
    TRANSLATED = "translated"
    """Every transfer between cards goes through it: slow, and hangs on some boards."""


class Found(StrEnum):
    """How the loader comes to a library."""

    LD_LIBRARY_PATH = "LD_LIBRARY_PATH"
    """Before a wheel's own copy, where that is found by RUNPATH."""
    LDCONFIG = "ldconfig"


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A copy of a CUDA library outside every Python environment."""

    name: str
    """"cudnn", "nccl", "cudart" …"""
    path: str
    found: Found
    version: str | None = None
    """As far as the file's name tells it, "9.5.1"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """A network interface that is up; the loopback is none."""

    name: str
    default: bool = False
    """Whether the default route leaves through it."""


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
    memory_limit: int | None = None
    """Bytes that the control group allows; UNLIMITED: it sets no limit."""
    memlock: int | None = None
    """Bytes that a process may lock; UNLIMITED: any."""
    sys_nice: bool | None = None
    """Whether this process has CAP_SYS_NICE; containers allow NUMA calls with it alone."""
    numa_nodes: int | None = None
    """NUMA nodes of the machine; 0: the kernel knows none."""
    iommu: Iommu | None = None
    ptxas: str | None = None
    """The first ptxas on PATH."""
    ptxas_version: str | None = None
    """Its CUDA, "12.8.93", as the file or its folder tells it; None: they do not."""
    nvswitches: int | None = None
    """NVSwitch devices that the kernel shows; None: it does not show its devices."""
    fabric_manager: bool | None = None
    """Whether the Fabric Manager runs; None: a container hides processes outside it."""
    fabric_manager_version: str | None = None
    """"570.133.20", which has to be the driver's; None: not known."""
    libcuda: str | None = None
    """Version of the libcuda that programs load, as its file's name tells it; another one than the
    driver's: forward-compatibility libraries stand before it."""
    library_path: str | None = None
    """LD_LIBRARY_PATH as it was set."""
    libraries: tuple[Library, ...] = ()
    interfaces: tuple[Interface, ...] = ()


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
    links: tuple[Link, ...] = ()
    """One for each pair of cards; empty where the driver told of none."""
    kernel_log: KernelLog | None = None
    """None: a file that an older release wrote."""

    @property
    def visible(self) -> tuple[Card, ...]:
        """The cards that a CUDA program started here would see."""
        return tuple(card for card in self.cards if card.visible)

    @property
    def peers_in_words(self) -> str | None:
        """Which cards reach each other's memory; None: one card, or not told."""
        if len(self.cards) < 2 or any(card.peers is None for card in self.cards):
            return None
        pairs = [(one, other) for one in self.cards for other in self.cards]
        apart = [
            f"{one.index}-{other.index}"
            for one, other in pairs
            if one.index < other.index and other.index not in (one.peers or ())
        ]
        if not apart:
            return "between all cards"
        most = len(self.cards) * (len(self.cards) - 1) // 2
        return "between no cards" if len(apart) == most else "not between " + ", ".join(apart)
