"""Finding out what this machine is: NVML first, the kernel's files where it gives no answer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from stackfix.host import nvml
from stackfix.host.devices import numa_node, read_cards, read_driver
from stackfix.host.host import Card, CardLink, CardSource, Host
from stackfix.host.kernel_log import read_kernel_log
from stackfix.host.system import read_system
from stackfix.host.visible import apply_visible_devices
from stackfix_knowledge.cards.gpus import GpuTable

__all__ = ["detect"]


def detect(
    *,
    gpus: GpuTable,
    env: Mapping[str, str] = os.environ,
    root: Path = Path("/"),
    timeout: float = nvml.TIMEOUT,
) -> Host:
    """This machine; `gpus` tells the capability of a card where its driver does not.

    Never raises for what it cannot find out: `Host.notes` tells it.
    """
    notes: list[str] = []
    cuda_driver: str | None = None
    links: tuple[CardLink, ...] = ()
    try:
        answer = nvml.ask(env=env, timeout=timeout)
    except nvml.NvmlUnavailable as error:
        cards = read_cards(root)
        driver = read_driver(root)
        source = CardSource.PROC if cards else CardSource.NONE
        if cards or driver:  # a machine without a card has no use for the complaint
            notes.append(f"{error}; what follows comes from /proc and /sys")
        if cards and not driver and cards[0].pci:
            notes.append("no NVIDIA driver is loaded: the cards are known by their PCI ids alone")
    else:
        cards, driver, cuda_driver = answer.cards, answer.driver, answer.cuda_driver
        links = answer.links
        source = CardSource.NVML if cards else CardSource.NONE
        notes.extend(answer.notes)
    setting = env.get("CUDA_VISIBLE_DEVICES")
    cards = tuple(
        replace(_with_capability(card, gpus, notes), numa=numa_node(root, card.pci))
        for card in cards
    )
    seen = apply_visible_devices(
        cards, setting, by_pci=env.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    )
    return Host(
        source=source,
        cards=seen.cards,
        system=read_system(root=root, env=env, cards=seen.cards),
        driver=driver,
        cuda_driver=cuda_driver,
        visible_devices=setting,
        links=links,
        kernel_log=read_kernel_log(root, {card.index: card.pci for card in cards if card.pci}),
        notes=(*notes, *(seen.notes if cards else ())),
    )


def _with_capability(card: Card, gpus: GpuTable, notes: list[str]) -> Card:
    if card.capability is not None:
        return card
    gpu = gpus.find(card.name)
    if gpu is None:
        notes.append(
            f"card {card.index} ({card.name}): compute capability not known; name it with --target"
        )
        return card
    return replace(card, capability=str(gpu.capability))
