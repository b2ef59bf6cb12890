"""The host as data: what `stackfix host` prints and `--host FILE` reads back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "UNLIMITED",
    "Card",
    "CardLink",
    "CardSource",
    "Fabric",
    "FabricState",
    "FoundBy",
    "Host",
    "Iommu",
    "KernelLog",
    "MemoryRepairs",
    "MigInstance",
    "NetworkInterface",
    "NvLinks",
    "PciRoute",
    "PeerAccess",
    "RepairUnit",
    "System",
    "SystemLibrary",
    "XidReport",
]

UNLIMITED = -1
"""A limit that is set to none; None stands for one that could not be read."""


class CardSource(StrEnum):
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


class RepairUnit(StrEnum):
    """What a card takes out of use."""

    ROWS = "rows"
    """Remapped to spare ones, from Ampere on."""
    PAGES = "pages"
    """Retired, before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRepairs:
    """Memory that was taken out of use for its errors."""

    unit: RepairUnit
    corrected: int
    """For errors that could be corrected."""
    uncorrected: int
    """For errors that could not."""
    pending: bool | None = None
    """Whether some wait for a reset of the card."""
    failed: bool | None = None
    """Whether one could not be repaired; pages do not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NvLinks:
    """The NVLinks of one card."""

    active: int
    inactive: int
    """Links that the card has and that are down; some boards leave links unused."""
    switched: bool | None
    """Whether they lead to switches; None: the driver does not say."""


class FabricState(StrEnum):
    """How far a card is in registering with the Fabric Manager: nvmlGpuFabricState_t."""

    NOT_STARTED = "not started"
    IN_PROGRESS = "in progress"
    COMPLETED = "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """One card's registration. A card that knows no fabric has none."""

    state: FabricState
    fault: str | None = None
    """Why the registration failed, in NVML's words; None: it did not, or is not finished."""
    troubles: tuple[str, ...] = ()
    """What the driver finds wrong: "degraded bandwidth", "unhealthy route" …"""

    @property
    def ready(self) -> bool:
        """Whether CUDA can start on the card."""
        return self.state is FabricState.COMPLETED and self.fault is None


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
    repairs: MemoryRepairs | None = None
    """Bad memory that was taken out of use; None: the card does not tell."""
    nvlinks: NvLinks | None = None
    """None: it has none, or the driver does not tell."""
    fabric: Fabric | None = None
    """None: it takes part in none, or the driver does not tell."""


class PciRoute(StrEnum):
    """The way over PCIe, by the names of `nvidia-smi topo -m`."""

    BOARD = "BOARD"
    """Both on one board."""
    PIX = "PIX"
    """One PCIe switch."""
    PXB = "PXB"
    """Several PCIe switches."""
    PHB = "PHB"
    """The CPU's PCIe host bridge."""
    NODE = "NODE"
    """Several host bridges of one NUMA node."""
    SYS = "SYS"
    """From one CPU to another."""


class PeerAccess(StrEnum):
    """Whether one reads the other's memory directly, else why not: nvmlGpuP2PStatus_t."""

    OK = "ok"
    CHIPSET = "chipset not supported"
    CARD = "card not supported"
    TOPOLOGY = "topology not supported"
    REGISTRY = "disabled by a setting of the driver"
    NOT_SUPPORTED = "not supported"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardLink:
    """Two cards, the lower index first. None stands for what the driver does not tell."""

    one: int
    other: int
    route: PciRoute | None = None
    nvlinks: int | None = None
    """NVLinks between them, direct or through switches."""
    access: PeerAccess | None = None
    atomics: bool | None = None
    """Whether atomic operations reach the other's memory."""

    @property
    def words(self) -> str:
        """As `nvidia-smi topo -m` has it, "NV18" or "PHB"; "!" where direct access is refused."""
        name = f"NV{self.nvlinks}" if self.nvlinks else (self.route or "?")
        refused = self.access is not None and self.access is not PeerAccess.OK
        return f"{name}{'!' if refused else ''}"


class Iommu(StrEnum):
    """What the IOMMU does with what the cards write."""

    OFF = "off"
    ON = "on"
    """Present, in a mode that could not be read."""
    PASSTHROUGH = "passthrough"
    TRANSLATED = "translated"
    """Every transfer between cards goes through it: slow, and hangs on some boards."""


class FoundBy(StrEnum):
    """How the loader comes to a library."""

    LD_LIBRARY_PATH = "LD_LIBRARY_PATH"
    """Before a wheel's own copy, where that is found by RUNPATH."""
    LDCONFIG = "ldconfig"


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemLibrary:
    """A copy of a CUDA library outside every Python environment."""

    name: str
    """"cudnn", "nccl", "cudart" …"""
    path: str
    found: FoundBy
    version: str | None = None
    """As far as the file's name tells it, "9.5.1"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInterface:
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
    libraries: tuple[SystemLibrary, ...] = ()
    interfaces: tuple[NetworkInterface, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class XidReport:
    """What was reported about one device, as often as it was."""

    number: int
    pci: str
    """"0000:65:00", as the driver writes it."""
    card: int | None = None
    """The card at that address; None: a switch, or a card that is gone."""
    switch: bool = False
    """Whether it is an SXid: a switch's number, which means something else than a card's."""
    count: int = 1
    text: str = ""
    """The first line's own words."""
    ago: int | None = None
    """Seconds between the last one and the reading of the log; None: its line has no such time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLog:
    """The kernel's log, as far as it is about cards."""

    source: str | None
    """Where it was read, "/dev/kmsg"; None: nowhere."""
    unread: str | None = None
    """Why it could not be read."""
    reports: tuple[XidReport, ...] = ()
    """In the order in which they first appeared, since the last start where the log shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One machine at one moment."""

    source: CardSource
    cards: tuple[Card, ...]
    system: System
    driver: str | None = None
    cuda_driver: str | None = None
    """Highest CUDA version that the driver itself implements, "12.8"."""
    visible_devices: str | None = None
    """CUDA_VISIBLE_DEVICES as it was set; None: not set."""
    notes: tuple[str, ...] = ()
    """What could not be found out and why, one line each."""
    links: tuple[CardLink, ...] = ()
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
