"""A target: one kind of card, how many of it, and the driver and platform around it."""

from __future__ import annotations

from dataclasses import dataclass

from stackfix_knowledge.capability import ComputeCapability
from stackfix_knowledge.driver import DriverVersion

__all__ = ["Target"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a stack has to run on. Several different cards are several targets.

    `driver` None means that nobody said: rules about drivers then have nothing to judge.
    """

    gpu: str
    """The card's name, "RTX 5090"; "sm_120" where only a capability was named."""
    capability: ComputeCapability
    count: int = 1
    driver: DriverVersion | None = None
    platform: str = "linux_x86_64"
    memory: int | None = None
    """Memory of one card in bytes."""
    segment: str | None = None
    """"consumer", "workstation", "datacenter", "jetson"; decides which drivers exist for it."""
    name: str | None = None
    """A name that the project gave it, "v100-pool"."""

    def has_driver(self, minimum: DriverVersion) -> bool:
        """Whether the driver is at least `minimum`; True where nobody said which it is.

        A Jetson's driver tells its branch alone ("580.00"), so there the branch decides.
        """
        if self.driver is None or self.driver >= minimum:
            return True
        branch_alone = len(self.driver.numbers) == 1 and self.segment == "jetson"
        return branch_alone and self.driver.branch >= minimum.branch

    @property
    def label(self) -> str:
        """One line for a person: "4 × RTX 5090 (12.0), driver 570.133.07"."""
        many = f"{self.count} × " if self.count > 1 else ""
        card = self.gpu if self.gpu.startswith("sm_") else f"{self.gpu} ({self.capability})"
        driver = f", driver {self.driver.text}" if self.driver else ""
        named = f"{self.name}: " if self.name else ""
        elsewhere = f", {self.platform}" if self.platform != "linux_x86_64" else ""
        return f"{named}{many}{card}{driver}{elsewhere}"

    @property
    def short(self) -> str:
        """The card alone, "RTX 5090", for tables where the line above was already shown."""
        return self.name or self.gpu
