"""Asking NVML, in a child process: a wedged driver hangs its callers, some beyond any signal.

The child is `nvml_child.py`. The parent waits a bounded time and goes on without an answer.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stackfix.errors import StackfixError
from stackfix.host.host import (
    Card,
    CardLink,
    Fabric,
    FabricState,
    MemoryRepairs,
    MigInstance,
    NvLinks,
    PciRoute,
    PeerAccess,
    RepairUnit,
)

__all__ = ["TIMEOUT", "NvmlAnswer", "NvmlUnavailable", "ask"]

TIMEOUT = 10.0
"""Seconds. A healthy driver without persistence mode takes up to about three on eight cards."""


class NvmlUnavailable(StackfixError):
    """NVML gave no answer; the text says why in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NvmlAnswer:
    """What NVML said."""

    cards: tuple[Card, ...]
    driver: str | None
    cuda_driver: str | None
    links: tuple[CardLink, ...]
    notes: tuple[str, ...]


def ask(*, env: Mapping[str, str], timeout: float = TIMEOUT) -> NvmlAnswer:
    """All cards as NVML lists them. Raises NvmlUnavailable, after at most `timeout` + 1 seconds."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "stackfix.host.nvml_child"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        text=True,
    )
    try:
        output, errors = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _abandon(child)
        raise NvmlUnavailable(
            f"NVML gave no answer within {timeout:g} s: the driver hangs, nvidia-smi would too"
        ) from None
    if child.returncode < 0:
        raise NvmlUnavailable(f"NVML crashed with signal {-child.returncode}")
    try:
        answer = json.loads(output)
    except ValueError:
        last = errors.strip().splitlines()[-1:] or [f"exit code {child.returncode}"]
        raise NvmlUnavailable(f"NVML could not be asked: {last[0]}") from None
    if "error" in answer:
        raise NvmlUnavailable(answer["error"])
    return NvmlAnswer(
        cards=tuple(_card(card) for card in answer["cards"]),
        driver=answer["driver"],
        cuda_driver=answer["cuda_driver"],
        links=tuple(_link(link) for link in answer["links"]),
        notes=tuple(answer["notes"]),
    )


def _abandon(child: subprocess.Popen[str]) -> None:
    """Kill without waiting for ever: a process inside a hung driver call ignores even SIGKILL."""
    child.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=1.0)
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    if child.returncode is None:
        child.returncode = -9  # or Popen's destructor would warn about a process still running


def _card(data: Mapping[str, Any]) -> Card:
    """A card from the child's words, which are the fields' own."""
    made = dict(data)
    made["mig"] = tuple(MigInstance(**instance) for instance in data["mig"])
    made["peers"] = None if data["peers"] is None else tuple(data["peers"])
    if data["repairs"] is not None:
        made["repairs"] = MemoryRepairs(
            **{**data["repairs"], "unit": RepairUnit(data["repairs"]["unit"])}
        )
    if data["nvlinks"] is not None:
        made["nvlinks"] = NvLinks(**data["nvlinks"])
    if data["fabric"] is not None:
        fabric = data["fabric"]
        made["fabric"] = Fabric(
            state=FabricState(fabric["state"]),
            fault=fabric["fault"],
            troubles=tuple(fabric["troubles"]),
        )
    return Card(**made)


def _link(data: Mapping[str, Any]) -> CardLink:
    return CardLink(
        one=data["one"],
        other=data["other"],
        route=PciRoute(data["route"]) if data["route"] else None,
        nvlinks=data["nvlinks"],
        access=PeerAccess(data["access"]) if data["access"] else None,
        atomics=data["atomics"],
    )
