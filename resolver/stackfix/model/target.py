"""A target: one kind of card, how many of it, and the driver and platform around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stackfix_knowledge.hardware import ComputeCapability, DriverVersion

__all__ = ["PLATFORMS", "Target", "short_names"]

PLATFORMS = ("linux_x86_64", "linux_aarch64", "win_amd64")
"""Platforms that have CUDA wheels."""


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
    compat: DriverVersion | None = None
    """The forward-compatibility libraries (NVIDIA's package cuda-compat) that programs load in
    place of the driver's own libcuda; None: none, or nobody said."""
    platform: str = "linux_x86_64"
    memory: int | None = None
    """Memory of one card in bytes."""
    segment: str | None = None
    """"geforce", "workstation", "datacenter", "jetson"; decides which drivers exist for it."""
    name: str | None = None
    """A name that the project gave it, "v100-pool"."""

    @property
    def compat_serves(self) -> bool:
        """Whether the card's kind may use forward-compatibility libraries; GeForce may not.

        Source: https://docs.nvidia.com/deploy/cuda-compatibility/forward-compatibility.html, which
        names data-centre cards, some RTX cards in certified servers, and Jetson.
        """
        return self.segment != "geforce"

    @property
    def may_have_compat(self) -> bool:
        """Whether to advise them: on data-centre cards under Linux, whatever the server."""
        return self.segment == "datacenter" and self.platform.startswith("linux")

    @property
    def libcuda(self) -> DriverVersion | None:
        """The version of the libcuda that programs load: it decides which CUDA they can use."""
        if self.driver is None or self.compat is None or not self.compat_serves:
            return self.driver
        return max(self.driver, self.compat)

    def has_driver(self, minimum: DriverVersion) -> bool:
        """Whether the driver is at least `minimum`; True where nobody said which it is."""
        return self._reaches(self.driver, minimum)

    def has_libcuda(self, minimum: DriverVersion) -> bool:
        """Whether CUDA is that of driver `minimum` or newer; True where nobody said."""
        return self._reaches(self.libcuda, minimum)

    def _reaches(self, version: DriverVersion | None, minimum: DriverVersion) -> bool:
        """A Jetson's driver tells its branch alone ("580.00"), so there the branch decides."""
        if version is None or version >= minimum:
            return True
        branch_alone = len(version.numbers) == 1 and self.segment == "jetson"
        return branch_alone and version.branch >= minimum.branch

    @property
    def label(self) -> str:
        """One line for a person: "4 × RTX 5090 (12.0), driver 570.133.07"."""
        many = f"{self.count} × " if self.count > 1 else ""
        card = self.gpu if self.gpu.startswith("sm_") else f"{self.gpu} ({self.capability})"
        driver = f", driver {self.driver.text}" if self.driver else ""
        driver += f" with cuda-compat {self.compat.text}" if self.compat else ""
        named = f"{self.name}: " if self.name else ""
        elsewhere = f", {self.platform}" if self.platform != "linux_x86_64" else ""
        return f"{named}{many}{card}{driver}{elsewhere}"

    @property
    def short(self) -> str:
        """The card alone, "RTX 5090", for tables where the line above was already shown."""
        return self.name or self.gpu


def short_names(targets: Sequence[Target]) -> Mapping[Target, str]:
    """A short name for each target, the whole label where short ones are the same."""
    shorts = [target.short for target in targets]
    return {
        target: target.short if shorts.count(target.short) == 1 else target.label
        for target in targets
    }
