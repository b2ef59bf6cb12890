"""What is wrong with a machine, from what it shows and what is known about that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stackfix.host.host import Card, Host, Iommu, PeerAccess, XidReport
from stackfix.wording import count
from stackfix_knowledge.evidence import FactSeverity
from stackfix_knowledge.logs.signatures import signature_table
from stackfix_knowledge.logs.xids import XidKind, xid_of

__all__ = ["Trouble", "fabric_trouble", "hardware_xids", "remarks", "troubles", "xid_in_words"]

_NOT_READY = "driver_802_not_ready"
"""The family of faults that a fabric which is not set up leads to."""
_RECENT = 7 * 24 * 3600
"""Seconds after which an Xid is history, unless the card still shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One thing that is wrong."""

    severity: FactSeverity
    """ERROR: programs fail for it; WARNING: they may."""
    text: str
    action: str | None = None
    """What to do about it."""


def troubles(host: Host) -> tuple[Trouble, ...]:
    """All of them, errors first."""
    found = [*_fabric(host), *_memory(host), *_links(host), *_xids(host), *_iommu(host)]
    return tuple(sorted(found, key=lambda one: one.severity is not FactSeverity.ERROR))


def remarks(host: Host) -> tuple[str, ...]:
    """For who plans or proves pins: what the host could not tell, and what no pins help against."""
    errors = (one for one in troubles(host) if one.severity is FactSeverity.ERROR)
    return (*host.notes, *(one.text for one in errors))


def fabric_trouble(host: Host) -> Trouble | None:
    """What keeps the cards' fabric from being used: CUDA does not start then."""
    return next((one for one in _fabric(host) if one.severity is FactSeverity.ERROR), None)


def hardware_xids(host: Host) -> tuple[tuple[XidReport, str], ...]:
    """Reports that speak of a card or a link and not of a program, each in words."""
    log = host.kernel_log
    found = []
    for report in log.reports if log else ():
        xid = None if report.switch else xid_of(report.number)
        quiet = xid is not None and (
            xid.kind is XidKind.PROGRAM or xid.severity is FactSeverity.INFO
        )
        if not quiet:
            found.append((report, xid_in_words(report)))
    return tuple(found)


def _fabric(host: Host) -> Iterator[Trouble]:
    waiting = [card for card in host.cards if card.fabric and not card.fabric.ready]
    if waiting:
        fabric = waiting[0].fabric
        assert fabric is not None
        state = f"failed ({fabric.fault})" if fabric.fault else f"is {fabric.state}"
        manager = "; the Fabric Manager does not run" * (host.system.fabric_manager is False)
        manager += _other_version(host)
        yield Trouble(
            severity=FactSeverity.ERROR,
            text=f"the fabric of {_named(waiting)} {state}{manager}: CUDA fails with error 802",
            action=_start_it(),
        )
    elif _switched(host) and host.system.fabric_manager is False and not _registered(host):
        yield Trouble(
            severity=FactSeverity.ERROR,
            text="the cards hang on NVSwitches and the Fabric Manager does not run"
            f"{_other_version(host)}: CUDA fails with error 802",
            action=_start_it(),
        )
    for card in host.cards:
        if card.fabric and card.fabric.troubles:
            yield Trouble(
                severity=FactSeverity.WARNING,
                text=f"the fabric of {_named([card])}: {', '.join(card.fabric.troubles)}",
                action="look at the Fabric Manager's log: journalctl -u nvidia-fabricmanager",
            )


def _other_version(host: Host) -> str:
    """Most often why it does not run: it serves the driver of its own version alone."""
    version = host.system.fabric_manager_version
    if version is None or host.driver is None or version == host.driver:
        return ""
    return f"; the Fabric Manager is {version}, the driver {host.driver}"


def _start_it() -> str:
    family = signature_table().family(_NOT_READY)
    return " ".join(remedy.text for remedy in family.remedies)


def _switched(host: Host) -> bool:
    return bool(host.system.nvswitches) or any(
        card.nvlinks is not None and card.nvlinks.switched for card in host.cards
    )


def _registered(host: Host) -> bool:
    return any(card.fabric is not None and card.fabric.ready for card in host.cards)


def _memory(host: Host) -> Iterator[Trouble]:
    waiting = []
    for card in host.cards:
        name, repairs = _named([card]), card.repairs
        if repairs is not None and repairs.failed:
            yield Trouble(
                severity=FactSeverity.ERROR,
                text=f"{name} has bad memory that could not be remapped",
                action="replace the card",
            )
        elif card.ecc_errors:
            yield Trouble(
                severity=FactSeverity.ERROR,
                text=f"{name} could not correct {count(card.ecc_errors, 'memory error')}",
                action="reset the card or restart the machine; replace the card if it repeats",
            )
        elif repairs is not None and repairs.pending:
            waiting.append(card)
    if waiting:
        yield Trouble(
            severity=FactSeverity.WARNING,
            text=f"bad memory of {_named(waiting)} is in use until the next reset",
            action="reset with nothing running there: nvidia-smi -r",
        )


def _links(host: Host) -> Iterator[Trouble]:
    """A link that is down where equal cards have more of them up, and access switched off."""
    for card in host.cards:
        links = card.nvlinks
        if links is None:
            continue
        most = max(
            one.nvlinks.active for one in host.cards if one.nvlinks and one.name == card.name
        )
        if links.active < most:
            yield Trouble(
                severity=FactSeverity.WARNING,
                text=f"{_named([card])} has {links.active} of {most} NVLinks up",
                action="look at `nvidia-smi nvlink -s` and the kernel log",
            )
    refused = [link for link in host.links if link.access is PeerAccess.REGISTRY]
    if refused:
        first = refused[0]
        yield Trouble(
            severity=FactSeverity.WARNING,
            text=f"a setting of the driver keeps cards {first.one} and {first.other} from reading"
            " each other's memory",
            action="take NVreg_RegistryDwords out of /etc/modprobe.d",
        )


def _xids(host: Host) -> Iterator[Trouble]:
    for report, words in hardware_xids(host):
        if report.ago is not None and report.ago > _RECENT:
            continue
        xid = None if report.switch else xid_of(report.number)
        fatal = report.switch and report.text.startswith("Fatal")
        severity = xid.severity if xid else FactSeverity.ERROR if fatal else FactSeverity.WARNING
        yield Trouble(severity=severity, text=words, action=xid.action if xid else None)


def xid_in_words(report: XidReport) -> str:
    """Which number, on which card, how often and when, and what it means."""
    where = f"card {report.card}" if report.card is not None else report.pci
    often = f" {report.count:,} times" if report.count > 1 else ""
    when = f", {_ago(report.ago)}" if report.ago is not None else ""
    if report.switch:
        return f"SXid {report.number} of the NVSwitch {where}{often}{when}: {report.text}"
    xid = xid_of(report.number)
    meaning = f"{xid.name}: {xid.meaning}" if xid else f"not known: {report.text}"
    return f"Xid {report.number} on {where}{often}{when}: {meaning}"


def _ago(seconds: int) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit} ago"
    return f"{seconds} seconds ago"


def _iommu(host: Host) -> Iterator[Trouble]:
    if host.cards and host.system.iommu is Iommu.TRANSLATED:
        yield Trouble(
            severity=FactSeverity.WARNING,
            text="the IOMMU translates the cards' transfers: peer-to-peer may hang",
            action="start the kernel with iommu=pt, or switch ACS off for the cards' bridges",
        )


def _named(cards: list[Card]) -> str:
    if len(cards) == 1:
        return f"card {cards[0].index}"
    return "cards " + ", ".join(str(card.index) for card in cards)
