"""A host as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from stackfix.report.console import show
from stackfix.report.plain import assemble, plain
from stackfix.report.wording import count

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from stackfix.host.host import Card, Host

__all__ = ["show_host"]

_SMALL_SHM = 1 << 30
"""NCCL and data loaders of several workers run out of anything smaller; Docker gives 64 MiB."""


def show_host(console: Console, host: Host) -> None:
    """Print the cards, the driver and what surrounds them."""
    show(console, _parts(host))


def _parts(host: Host) -> Iterator[RenderableType]:
    yield _driver(host)
    if host.cards:
        yield _cards(host)
    yield _system(host)
    for note in host.notes:
        yield assemble(("! ", "yellow"), note)


def _driver(host: Host) -> Text:
    if not host.cards:
        loaded = f", driver {host.driver} is loaded" if host.driver else ""
        return plain(f"no NVIDIA card{loaded}", style="bold")
    cuda = f" (CUDA {host.cuda_driver})" if host.cuda_driver else ""
    driver = f"driver {host.driver}{cuda}" if host.driver else "no driver"
    return assemble((count(len(host.cards), "card"), "bold"), f", {driver}")


def _cards(host: Host) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
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
    return count(len(card.mig), "MIG instance") if card.mig else ""


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


def _binary(number: int) -> str:
    return f"{number / (1 << 30):.1f} GiB" if number >= 1 << 30 else f"{number / (1 << 20):.0f} MiB"
