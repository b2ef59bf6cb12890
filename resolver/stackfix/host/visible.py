"""CUDA_VISIBLE_DEVICES as CUDA reads it.

Source: CUDA C++ Programming Guide, "CUDA Environment Variables". An entry is an index, the start
of a UUID ("GPU-8932f937"), or a MIG instance. CUDA stops at the first entry that it cannot
resolve; the cards named before it stay visible. A card named twice makes none visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stackfix.host.host import Card, MigInstance

__all__ = ["Visibility", "apply_visible_devices"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """All cards with `visible` set, and what is odd about the setting."""

    cards: tuple[Card, ...]
    notes: tuple[str, ...]


def apply_visible_devices(
    cards: Sequence[Card], setting: str | None, *, by_pci: bool = False
) -> Visibility:
    """Mark what `setting` leaves visible. `by_pci`: CUDA_DEVICE_ORDER is PCI_BUS_ID."""
    if setting is None:
        return Visibility(cards=tuple(cards), notes=())
    chosen: list[tuple[int, MigInstance | None]] = []
    notes: list[str] = []
    indexed = False
    for entry in (part.strip() for part in setting.split(",")):
        found = _resolve(cards, entry)
        if found is None:
            if entry not in ("", "-1", "NoDevFiles", "none", "void"):
                notes.append(
                    f"CUDA_VISIBLE_DEVICES={setting}: no card is called {entry!r}, and CUDA"
                    " ignores all that follows it"
                )
            break
        if found in chosen:
            notes.append(f"CUDA_VISIBLE_DEVICES={setting} names a card twice: CUDA then sees none")
            chosen.clear()
            break
        indexed = indexed or entry.lstrip("+").isdecimal()
        chosen.append(found)
    different = len({(card.name, card.capability) for card in cards}) > 1
    if indexed and different and not by_pci:
        notes.append(
            "the cards differ and CUDA_DEVICE_ORDER is not PCI_BUS_ID: CUDA may count them in"
            " another order (fastest first) than assumed here (by PCI address)"
        )
    return Visibility(cards=tuple(_mark(card, chosen) for card in cards), notes=tuple(notes))


def _mark(card: Card, chosen: Sequence[tuple[int, MigInstance | None]]) -> Card:
    mine = [instance for index, instance in chosen if index == card.index]
    instances = tuple(instance for instance in mine if instance is not None)
    return replace(card, visible=bool(mine), mig=instances or card.mig)


def _resolve(cards: Sequence[Card], entry: str) -> tuple[int, MigInstance | None] | None:
    if entry.lstrip("+").isdecimal():
        position = int(entry)
        return next(((card.index, None) for card in cards if card.index == position), None)
    if entry.startswith("GPU-"):
        matches = [card for card in cards if card.uuid and card.uuid.startswith(entry)]
        return (matches[0].index, None) if len(matches) == 1 else None
    if entry.startswith("MIG-GPU-"):  # the older form: MIG-<card's UUID>/<instance>/<instance>
        parent = entry.removeprefix("MIG-").partition("/")[0]
        card = next((card for card in cards if card.uuid == parent), None)
        return (card.index, MigInstance(uuid=entry)) if card else None
    if entry.startswith("MIG-"):
        found = [
            (card.index, instance)
            for card in cards
            for instance in card.mig
            if instance.uuid.startswith(entry)
        ]
        return found[0] if len(found) == 1 else None
    return None
