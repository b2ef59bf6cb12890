"""What joins cards through switches: the state of the fabric, and of the links into it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Fabric", "FabricState", "NvLinks"]


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
class NvLinks:
    """The NVLinks of one card."""

    active: int
    inactive: int
    """Links that the card has and that are down; some boards leave links unused."""
    switched: bool | None
    """Whether they lead to switches; None: the driver does not say."""
