"""From a host to the targets that it stands for: one for each kind of card in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from stackfix.model.target import Target
from stackfix.targets.parse import card_name
from stackfix_knowledge.cards.gpus import GpuTable
from stackfix_knowledge.hardware import ComputeCapability, DriverVersion

if TYPE_CHECKING:
    from stackfix.host.host import Card, Host

__all__ = ["merge", "targets_of_host"]

_PLANNED_FOR = {"macos_arm64": "linux_x86_64"}
"""CUDA does not exist on these platforms: a plan made there is for another machine."""


def targets_of_host(host: Host, gpus: GpuTable) -> tuple[Target, ...]:
    """Targets for the visible cards. A card without a known capability gives none."""
    driver = _driver(host.driver)
    found = (
        _target(card, host, driver, gpus) for card in host.visible if card.capability is not None
    )
    return merge(found, add=True)


def merge(targets: Iterable[Target], *, add: bool = False) -> tuple[Target, ...]:
    """Targets without repetitions, in order.

    Equal cards under an equal driver are one target: with as many cards as all of them (`add`,
    cards of one machine) or as the largest of them (machines of one fleet). What differs in
    memory counts as the smallest.
    """
    merged: dict[tuple[object, ...], Target] = {}
    for target in targets:
        driver = (target.driver, target.compat)
        key = (target.name, target.gpu, target.capability, driver, target.platform)
        known = merged.get(key)
        if known is not None:
            sizes = [memory for memory in (known.memory, target.memory) if memory is not None]
            count = known.count + target.count if add else max(known.count, target.count)
            target = replace(known, count=count, memory=min(sizes, default=None))
        merged[key] = target
    return tuple(merged.values())


def _target(card: Card, host: Host, driver: DriverVersion | None, gpus: GpuTable) -> Target:
    known = gpus.find(card.name)
    platform = host.system.platform
    return Target(
        gpu=card_name(card.name),
        capability=ComputeCapability.parse(card.capability or ""),
        driver=driver,
        compat=_compat(host, driver),
        platform=_PLANNED_FOR.get(platform, platform),
        memory=card.mig[0].memory if card.mig else card.memory,
        segment=known.segment if known else None,
    )


def _compat(host: Host, driver: DriverVersion | None) -> DriverVersion | None:
    """The libcuda that programs load here, where it is a newer one than the driver's own."""
    loaded = _driver(host.system.libcuda)
    return loaded if loaded is not None and driver is not None and loaded > driver else None


def _driver(text: str | None) -> DriverVersion | None:
    try:
        return DriverVersion.parse(text) if text else None
    except ValueError:  # a driver that does not count as others do can be compared with nothing
        return None
