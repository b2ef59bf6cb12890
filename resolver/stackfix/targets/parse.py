"""Targets as people write them: `GPU[:COUNT][@DRIVER[+COMPAT]]`."""

from __future__ import annotations

import re
from dataclasses import replace

from stackfix.errors import StackfixError
from stackfix.model.target import Target
from stackfix_knowledge.cards.gpus import GpuTable
from stackfix_knowledge.hardware import ComputeCapability, DriverVersion

__all__ = ["FORM", "TargetError", "card_name", "parse_target", "target_of_card"]

FORM = 'GPU[:COUNT][@DRIVER[+COMPAT]], such as "RTX 5090:4@570.133.07", "L4" or "sm_120"'

_MOST_CARDS = 100_000
_CAPABILITY = re.compile(r"(?:sm_?|compute_)(\d{2,3})|(\d{1,2}\.\d)", re.IGNORECASE)
_BRAND = re.compile(r"^(?:NVIDIA |GeForce |Tesla )+", re.IGNORECASE)
_DEFAULT_PLATFORM = "linux_x86_64"


class TargetError(StackfixError):
    """A target that cannot be understood; the text is one line that says what was expected."""


def parse_target(text: str, gpus: GpuTable) -> Target:
    """The target that `text` names. Raises TargetError, with near names for an unknown card.

    The platform is the one that the card is usually found in: GH200 and GB10 mean aarch64.
    COMPAT is the version of the forward-compatibility libraries beside the driver.
    """
    rest, at, driver = text.strip().rpartition("@")
    if not at:
        rest, driver = text.strip(), ""
    driver, plus, compat = driver.partition("+")
    card, colon, count = rest.rpartition(":")
    if not colon:
        card, count = rest, "1"
    if not card.strip() or (at and not driver.strip()):
        raise TargetError(f"target {text!r}: expected {FORM}")
    target = target_of_card(
        card.strip(), gpus, count=_count(count, text), driver=_driver(driver, text) if at else None
    )
    return replace(target, compat=_driver(compat, text)) if plus else target


def target_of_card(
    card: str, gpus: GpuTable, *, count: int = 1, driver: DriverVersion | None = None
) -> Target:
    """The target for a card's name or capability. Raises TargetError."""
    if found := _CAPABILITY.fullmatch(card):
        return _target_of_capability(
            ComputeCapability.parse(found[2] or f"sm_{found[1]}"), gpus, count, driver
        )
    gpu = gpus.find(card)
    if gpu is None:
        raise TargetError(_unknown(card, gpus))
    return Target(
        gpu=card_name(gpu.name),
        capability=gpu.capability,
        count=count,
        driver=driver,
        platform=gpu.platform,
        segment=gpu.segment,
    )


def card_name(name: str) -> str:
    """A card's name as people say it: "NVIDIA GeForce RTX 5090" is an "RTX 5090"."""
    return _BRAND.sub("", name).strip() or name


def _target_of_capability(
    capability: ComputeCapability, gpus: GpuTable, count: int, driver: DriverVersion | None
) -> Target:
    cards = gpus.with_capability(capability)
    if not cards:
        known = sorted({gpu.capability for gpu in gpus})
        raise TargetError(
            f"no known card has compute capability {capability}: expected one of "
            + ", ".join(map(str, known))
        )
    platforms = {gpu.platform for gpu in cards}
    segments = {gpu.segment for gpu in cards}
    return Target(
        gpu=capability.sm,
        capability=capability,
        count=count,
        driver=driver,
        platform=platforms.pop() if len(platforms) == 1 else _DEFAULT_PLATFORM,
        segment=segments.pop() if len(segments) == 1 else None,
    )


def _count(text: str, whole: str) -> int:
    digits = text.strip()
    if not (digits.isascii() and digits.isdecimal() and 1 <= int(digits[:9]) <= _MOST_CARDS):
        raise TargetError(
            f"target {whole!r}: expected the number of cards after the colon, not {text!r}"
        )
    return int(digits)


def _driver(text: str, whole: str) -> DriverVersion:
    try:
        return DriverVersion.parse(text)
    except ValueError:
        raise TargetError(
            f'target {whole!r}: expected a driver version like "570.133.07" after "@",'
            f" not {text.strip()!r}"
        ) from None


def _unknown(card: str, gpus: GpuTable) -> str:
    near = [card_name(name) for name in gpus.near(card, limit=3)]
    meant = f"; did you mean {_any_of(near)}?" if near else ";"
    return f'no single card is known as {card!r}{meant} a capability like "sm_120" works as well'


def _any_of(names: list[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
