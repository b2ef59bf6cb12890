"""Conditions of known bugs that a stack and a card do not show, but a host does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from stackfix.host.host import Host

__all__ = ["OBSERVERS", "Observation", "observe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Whether a condition holds on a host."""

    holds: bool | None
    """None: the host does not tell."""
    words: str
    """What was seen, or what could not be."""


def observe(condition: str, host: Host) -> Observation | None:
    """What the host tells about a condition, in the words of its advisory.

    None: no host can tell, or this one does not and the workaround has a price: a person chooses.
    """
    observer = OBSERVERS.get(condition)
    return observer(host) if observer else None


def _numa_calls(host: Host) -> Observation:
    """NCCL places host memory by NUMA calls; container engines forbid those without SYS_NICE."""
    system = host.system
    if system.numa_nodes == 0:
        return Observation(holds=True, words="the kernel knows no NUMA nodes")
    if system.container and system.sys_nice is False:
        return Observation(holds=True, words="this container lacks the capability SYS_NICE")
    if system.container and system.sys_nice is None:
        return Observation(
            holds=None, words="it is not known whether this container has the capability SYS_NICE"
        )
    if system.numa_nodes is None:
        return Observation(holds=None, words="it is not known whether this machine has NUMA")
    return Observation(holds=False, words="NUMA calls are allowed")


def _no_peers(host: Host) -> Observation:
    cards = host.visible
    for card in cards:
        for other in cards:
            if card.peers is not None and other is not card and other.index not in card.peers:
                return Observation(
                    holds=True,
                    words=f"cards {card.index} and {other.index} cannot reach each other directly",
                )
    if any(card.peers is None for card in cards):
        return Observation(
            holds=None, words="it is not known whether the cards reach each other directly"
        )
    return Observation(holds=False, words="all cards reach each other directly")


def _switches(host: Host) -> Observation | None:
    """Leaving NVLS out costs bandwidth: only cards that are known to hang on switches are told."""
    known = [card.nvlinks.switched for card in host.cards if card.nvlinks]
    if host.system.nvswitches or True in known:
        return Observation(holds=True, words="the cards hang on NVLink switches")
    told = bool(host.links) and all(link.nvlinks is not None for link in host.links)
    if told and host.system.nvswitches == 0:
        return Observation(holds=False, words="the cards hang on no NVLink switch")
    return None


OBSERVERS: Mapping[str, Callable[[Host], Observation | None]] = {
    "a container without the capability SYS_NICE, or a machine without NUMA": _numa_calls,
    "no peer-to-peer access between the cards": _no_peers,
    "NVLink switches": _switches,
}
"""By the words that the advisories use; a test holds them to the shipped ones."""
