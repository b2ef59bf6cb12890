"""A host as text, and hosts beside each other as a document and as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from stackfix.documents.document import Document
from stackfix.host.compare import HostDifference
from stackfix.host.health import Trouble, troubles
from stackfix.host.host import UNLIMITED
from stackfix.report.text import MARKS, STYLES, assemble, grid, plain
from stackfix.wording import count, listed

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from stackfix.host.compare import HostComparison
    from stackfix.host.host import Card, Host, System

__all__ = ["HostComparisonDocument", "comparison_document", "comparison_text", "host_text"]

_SMALL_SHM = 1 << 30
"""NCCL and data loaders of several workers run out of anything smaller; Docker gives 64 MiB."""
_MOST_CARDS = 16
"""Cards in a table; more do not fit a screen."""


class HostComparisonDocument(Document):
    """What `stackfix host A.json B.json --format json` prints."""

    schema: Literal[1]
    hosts: Annotated[tuple[str, ...], Meta(min_length=2)]
    """The files, in the order of every `values`."""
    same: bool
    """No difference decides what the machines can run."""
    differences: tuple[HostDifference, ...]
    untold: tuple[str, ...]
    """What only some hosts tell, and those alike."""


def comparison_document(comparison: HostComparison) -> HostComparisonDocument:
    """The comparison; `values` stand in the order of `hosts`."""
    return HostComparisonDocument.of(
        comparison,
        schema=1,
        hosts=comparison.names,
    )


def host_text(host: Host) -> Iterator[RenderableType]:
    """The cards, the driver and what surrounds them."""
    yield _driver(host)
    if host.cards:
        yield _cards(host)
    if nodes := _nodes(host):
        yield plain(nodes, style="dim")
    if peers := host.peers_in_words:
        yield plain(f"peer-to-peer {peers}", style="dim")
    yield from _links(host)
    if host.cards and (fabric := _fabric(host)):
        yield plain(fabric, style="dim")
    yield _system(host)
    yield from _surroundings(host.system)
    if host.cards and host.kernel_log and host.kernel_log.unread:
        yield plain(f"kernel log: {host.kernel_log.unread}", style="dim")
    for trouble in troubles(host):
        yield from _trouble(trouble)
    for note in host.notes:
        yield assemble(("! ", "yellow"), note)


def _driver(host: Host) -> Text:
    if not host.cards:
        loaded = f", driver {host.driver} is loaded" if host.driver else ""
        return plain(f"no NVIDIA card{loaded}", style="bold")
    cuda = f" (CUDA {host.cuda_driver})" if host.cuda_driver else ""
    driver = f"driver {host.driver}{cuda}" if host.driver else "no driver"
    if (libcuda := host.system.libcuda) and host.driver and libcuda != host.driver:
        driver += f", libcuda {libcuda} in place of its own (cuda-compat)"
    return assemble((count(len(host.cards), "card"), "bold"), f", {driver}")


def _cards(host: Host) -> Table:
    table = grid()
    for card in host.cards:
        table.add_row(
            plain(f"  {card.index}", style="dim"),
            plain(card.name, style="bold" if card.visible else "dim"),
            plain(card.capability or "capability not known"),
            plain(f"{card.memory / (1 << 30):.0f} GiB" if card.memory else ""),
            plain(card.pci or "", style="dim"),
            plain(_remark(card), style="yellow"),
        )
    return table


def _remark(card: Card) -> str:
    if not card.visible:
        return "hidden by CUDA_VISIBLE_DEVICES"
    remarks = [count(len(card.mig), "MIG instance")] if card.mig else []
    if card.ecc_errors:
        remarks.append(count(card.ecc_errors, "uncorrected memory error"))
    if card.ecc_corrected:
        remarks.append(count(card.ecc_corrected, "corrected memory error"))
    if card.repairs and (card.repairs.corrected or card.repairs.uncorrected):
        number = card.repairs.corrected + card.repairs.uncorrected
        unit = card.repairs.unit.removesuffix("s")
        remarks.append(f"{count(number, f'memory {unit}')} out of use")
    return ", ".join(remarks)


def _nodes(host: Host) -> str:
    """The cards by NUMA node, where they are on several."""
    nodes: dict[int, list[str]] = {}
    for card in host.cards:
        if card.numa is not None:
            nodes.setdefault(card.numa, []).append(str(card.index))
    if len(nodes) < 2:
        return ""
    return "; ".join(f"NUMA node {node}: card {', '.join(nodes[node])}" for node in sorted(nodes))


def _fabric(host: Host) -> str:
    """Switches, the state of each card's fabric, the Fabric Manager; "" where there is none."""
    parts = []
    if host.system.nvswitches:
        parts.append(count(host.system.nvswitches, "NVSwitch", "NVSwitches"))
    states = sorted({card.fabric.state for card in host.cards if card.fabric})
    if states:
        parts.append(f"fabric {' and '.join(states)}")
    if parts and host.system.fabric_manager is not None:
        parts.append(f"Fabric Manager {'runs' if host.system.fabric_manager else 'does not run'}")
    return ", ".join(parts)


def _trouble(trouble: Trouble) -> Iterator[Text]:
    severity = trouble.severity
    yield assemble((f"{MARKS[severity]} ", STYLES[severity]), trouble.text)
    if trouble.action:
        yield plain(f"  {trouble.action}", style="dim")


def _system(host: Host) -> Text:
    system = host.system
    parts = [system.platform, f"Python {system.python}"]
    if system.kernel:
        parts.append(f"kernel {system.kernel}")
    if system.glibc:
        parts.append(f"glibc {system.glibc}")
    parts += [
        name for name, holds in (("container", system.container), ("WSL", system.wsl)) if holds
    ]
    text = plain(", ".join(parts), style="dim")
    if system.shm is not None:
        small = host.cards and system.shm < _SMALL_SHM
        text.append(f", /dev/shm {_binary(system.shm)}", style="yellow" if small else "dim")
        if small:
            text.append(" (small: NCCL and data loaders need more)", style="yellow")
    return text


def _surroundings(system: System) -> Iterator[Text]:
    """Limits and layout in one line; then what a loader or compiler may take instead of a wheel."""
    parts = []
    if system.numa_nodes is not None:
        parts.append(count(system.numa_nodes, "NUMA node"))
    if system.iommu is not None:
        parts.append(f"IOMMU {system.iommu}")
    if system.memory_limit not in (None, UNLIMITED):
        parts.append(f"memory limit {_binary(system.memory_limit or 0)}")
    if system.memlock is not None:
        parts.append(f"memlock {_limit(system.memlock)}")
    if system.interfaces:
        names = (one.name + (" (default)" if one.default else "") for one in system.interfaces)
        parts.append("network " + ", ".join(names))
    if parts:
        yield plain(", ".join(parts), style="dim")
    if system.library_path:
        yield plain(f"LD_LIBRARY_PATH {system.library_path}", style="dim")
    for library in system.libraries:
        version = f" {library.version}" if library.version else ""
        yield plain(f"{library.name}{version} {library.path} ({library.found})", style="dim")
    if system.ptxas:
        version = f" {system.ptxas_version}" if system.ptxas_version else ""
        yield plain(f"ptxas{version} {system.ptxas}", style="dim")


def _limit(number: int) -> str:
    return "unlimited" if number == UNLIMITED else _binary(number)


def _binary(number: int) -> str:
    return f"{number / (1 << 30):.1f} GiB" if number >= 1 << 30 else f"{number / (1 << 20):.0f} MiB"


def _links(host: Host) -> Iterator[RenderableType]:
    """By the names of `nvidia-smi topo -m`: NV18 is eighteen NVLinks, "!" no direct access."""
    words = {link.words for link in host.links}
    if not host.cards or words <= {"?"}:
        return
    refused = any(word.endswith("!") for word in words)
    legend = "  (!: without direct access)" if refused else ""
    if len(words) == 1:
        yield plain(f"between the cards {words.pop()}{legend}", style="dim")
        return
    indices = sorted({index for link in host.links for index in (link.one, link.other)})
    known = {(link.one, link.other): link.words for link in host.links}
    table = grid()
    for _ in range(min(len(indices), _MOST_CARDS) + 1):
        table.add_column(justify="right")
    shown = indices[:_MOST_CARDS]
    table.add_row(*(plain(text, style="dim") for text in ("", *map(str, shown))))
    for one in shown:
        cells = ["-" if one == other else _cell(known, one, other) for other in shown]
        table.add_row(plain(f"  {one}", style="dim"), *(plain(cell) for cell in cells))
    yield table
    if legend:
        yield plain(legend, style="dim")
    if len(indices) > _MOST_CARDS:
        yield plain(f"  and {len(indices) - _MOST_CARDS} cards more", style="dim")


def _cell(known: dict[tuple[int, int], str], one: int, other: int) -> str:
    return known.get((min(one, other), max(one, other)), "?")


def comparison_text(comparison: HostComparison) -> Iterator[Text]:
    """What differs, with the hosts by value."""
    number = len(comparison.names)
    if comparison.same:
        yield assemble((f"{number} hosts", "bold"), ": same cards, driver and platform")
    else:
        decisive = [one.what for one in comparison.differences if one.decides]
        yield assemble((f"{number} hosts", "bold"), ": not the same ", " and ".join(decisive))
    for difference in comparison.differences:
        yield plain(difference.what, style="yellow" if difference.decides else "bold")
        for value, names in _by_value(difference, comparison.names).items():
            yield assemble(f"  {'not told' if value is None else value}  ", (listed(names), "dim"))
    if comparison.untold:
        yield plain(f"not told by all: {', '.join(comparison.untold)}", style="dim")


def _by_value(difference: HostDifference, names: tuple[str, ...]) -> dict[str | None, list[str]]:
    found: dict[str | None, list[str]] = {}
    for value, name in zip(difference.values, names, strict=True):
        found.setdefault(value, []).append(name)
    return found
