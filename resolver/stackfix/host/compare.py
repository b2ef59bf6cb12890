"""What differs between machines that are meant to be alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from stackfix.host.health import hardware_xids
from stackfix.host.host import UNLIMITED, Host

__all__ = ["HostComparison", "HostDifference", "compare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDifference:
    """One thing in which hosts differ."""

    what: str
    decides: bool
    """Whether it decides what the machines can run: cards, driver, platform, fabric."""
    values: tuple[str | None, ...]
    """One for each host, in order; None: that host does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostComparison:
    """Hosts beside each other."""

    names: tuple[str, ...]
    differences: tuple[HostDifference, ...]
    untold: tuple[str, ...]
    """What only some hosts tell, and those alike."""

    @property
    def same(self) -> bool:
        """Whether nothing differs that decides what the machines can run."""
        return not any(difference.decides for difference in self.differences)


def compare(hosts: Sequence[tuple[str, Host]]) -> HostComparison:
    """The hosts by their names. A host that does not tell something differs in nothing by that."""
    differences, untold = [], []
    for what, read in {**_DECIDES, **_OTHERS}.items():
        values = tuple(read(host) for _, host in hosts)
        told = {value for value in values if value is not None}
        if len(told) > 1:
            differences.append(HostDifference(what=what, decides=what in _DECIDES, values=values))
        elif told and None in values:
            untold.append(what)
    return HostComparison(
        names=tuple(name for name, _ in hosts),
        differences=tuple(differences),
        untold=tuple(untold),
    )


def _cards(host: Host) -> str:
    """Visible cards; equal ones are counted, wherever they sit."""
    found = Counter(
        card.name
        + (f" {card.memory >> 20} MiB" if card.memory else "")
        + (f" with {len(card.mig)} MIG" if card.mig else "")
        for card in host.visible
    )
    return ", ".join(f"{number} × {name}" for name, number in sorted(found.items())) or "none"


def _nodes(host: Host) -> str | None:
    known = [(card.index, card.numa) for card in host.cards if card.numa is not None]
    return ", ".join(f"{card} on {node}" for card, node in known) or None


def _ecc(host: Host) -> bool:
    """Whether the host tells of every card whether it corrects memory errors."""
    return bool(host.cards) and all(card.ecc is not None for card in host.cards)


def _memory(host: Host) -> str | None:
    """Cards whose memory has errors or waits for repair; None where no card tells."""
    told = [card for card in host.cards if card.ecc_errors is not None or card.repairs is not None]
    bad = [
        str(card.index)
        for card in told
        if card.ecc_errors or (card.repairs and (card.repairs.pending or card.repairs.failed))
    ]
    if not told:
        return None
    return f"bad on {', '.join(bad)}" if bad else "sound"


def _fabric(host: Host) -> str | None:
    states = {
        "ready" if card.fabric.ready else card.fabric.state.value
        for card in host.cards
        if card.fabric
    }
    return " and ".join(sorted(states)) or None


def _links(host: Host) -> str | None:
    """The ways between cards, equal ones counted."""
    found = Counter(link.words for link in host.links)
    return ", ".join(f"{number} × {name}" for name, number in sorted(found.items())) or None


def _nvlinks(host: Host) -> str | None:
    known = Counter(card.nvlinks.active for card in host.cards if card.nvlinks)
    return ", ".join(f"{number} × {up}" for up, number in sorted(known.items())) or None


def _xids(host: Host) -> str | None:
    """Numbers in the kernel log that speak of a card or a link and not of a program."""
    if host.kernel_log is None or host.kernel_log.unread is not None:
        return None
    numbers = {
        f"{'SXid' if report.switch else 'Xid'} {report.number}" for report, _ in hardware_xids(host)
    }
    return ", ".join(sorted(numbers)) or "none"


def _ptxas(host: Host) -> str:
    return host.system.ptxas_version or host.system.ptxas or "none"


def _libraries(host: Host) -> str:
    return ", ".join(sorted(_library(host))) or "none"


def _library(host: Host) -> set[str]:
    return {
        f"{library.name} {library.version or library.path}" for library in host.system.libraries
    }


def _number(number: int | None) -> str | None:
    return "unlimited" if number == UNLIMITED else None if number is None else f"{number:,} bytes"


def _yes(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _interfaces(host: Host) -> str | None:
    return ", ".join(one.name for one in host.system.interfaces) or None


_Read = Callable[[Host], str | None]

_DECIDES: Mapping[str, _Read] = {
    "cards": _cards,
    "driver": lambda host: host.driver or "none",
    "platform": lambda host: host.system.platform,
    "fabric": _fabric,
}

_OTHERS: Mapping[str, _Read] = {
    "CUDA of the driver": lambda host: host.cuda_driver,
    "libcuda": lambda host: host.system.libcuda,
    "CUDA_VISIBLE_DEVICES": lambda host: host.visible_devices or "not set",
    "NUMA nodes of the cards": _nodes,
    "ECC": lambda host: _yes(all(card.ecc for card in host.cards)) if _ecc(host) else None,
    "memory of the cards": _memory,
    "peer-to-peer": lambda host: host.peers_in_words,
    "links between the cards": _links,
    "NVLinks that are up": _nvlinks,
    "NVSwitches": lambda host: (
        None if host.system.nvswitches is None else str(host.system.nvswitches)
    ),
    "Fabric Manager": lambda host: _yes(host.system.fabric_manager),
    "Xids": _xids,
    "NUMA nodes": lambda host: (
        None if host.system.numa_nodes is None else str(host.system.numa_nodes)
    ),
    "IOMMU": lambda host: host.system.iommu,
    "container": lambda host: _yes(host.system.container),
    "WSL": lambda host: _yes(host.system.wsl),
    "SYS_NICE": lambda host: _yes(host.system.sys_nice),
    "/dev/shm": lambda host: _number(host.system.shm),
    "memory limit": lambda host: _number(host.system.memory_limit),
    "memlock": lambda host: _number(host.system.memlock),
    "kernel": lambda host: host.system.kernel,
    "glibc": lambda host: host.system.glibc,
    "Python": lambda host: host.system.python,
    "CUDA libraries": _libraries,
    "LD_LIBRARY_PATH": lambda host: host.system.library_path or "not set",
    "ptxas": _ptxas,
    "network": _interfaces,
}
