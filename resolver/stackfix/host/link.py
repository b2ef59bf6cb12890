"""What lies between two cards."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Access", "Link", "Route"]


class Route(StrEnum):
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


class Access(StrEnum):
    """Whether one reads the other's memory directly, else why not: nvmlGpuP2PStatus_t."""

    OK = "ok"
    CHIPSET = "chipset not supported"
    CARD = "card not supported"
    TOPOLOGY = "topology not supported"
    REGISTRY = "disabled by a setting of the driver"
    NOT_SUPPORTED = "not supported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Two cards, the lower index first. None stands for what the driver does not tell."""

    one: int
    other: int
    route: Route | None = None
    nvlinks: int | None = None
    """NVLinks between them, direct or through switches."""
    access: Access | None = None
    atomics: bool | None = None
    """Whether atomic operations reach the other's memory."""

    @property
    def words(self) -> str:
        """As `nvidia-smi topo -m` has it, "NV18" or "PHB"; "!" where direct access is refused."""
        name = f"NV{self.nvlinks}" if self.nvlinks else (self.route or "?")
        refused = self.access is not None and self.access is not Access.OK
        return f"{name}{'!' if refused else ''}"
