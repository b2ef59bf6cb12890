"""Whose word counts: the command line's, else the project's, else this machine's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from stackfix.host.document import read_host
from stackfix.host.health import remarks
from stackfix.host.host import Host
from stackfix.model.target import Target
from stackfix.targets.declared import declared_targets
from stackfix.targets.errors import NoTarget
from stackfix.targets.hosts import merge, targets_of_host
from stackfix.targets.parse import parse_target
from stackfix_knowledge.gpus import GpuTable

__all__ = ["Origin", "Selected", "select_targets"]


class Origin(StrEnum):
    """Who named the targets."""

    COMMAND_LINE = "command line"
    PROJECT = "project"
    MACHINE = "this machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The targets of a run."""

    targets: tuple[Target, ...]
    """At least one."""
    origin: Origin
    notes: tuple[str, ...] = ()
    """What the hosts could not find out about themselves, and what is wrong with them."""


def select_targets(
    *,
    named: Sequence[str],
    hosts: Sequence[Path],
    settings: Mapping[str, Any],
    project_file: Path,
    gpus: GpuTable,
    machine: Callable[[], Host],
    platforms: Sequence[str] = (),
) -> Selected:
    """The targets to plan for; `machine` is only asked when nobody named one.

    `settings` is the project's `[tool.stackfix]`, in `project_file`. `platforms` replaces the
    platform of every target. Raises TargetError, InputError, NoTarget.
    """
    if named or hosts:
        read = [read_host(path) for path in hosts]
        found = [parse_target(text, gpus) for text in named]
        for path, host in zip(hosts, read, strict=True):
            of_host = targets_of_host(host, gpus)
            if not of_host:
                raise NoTarget(_nothing(f"{path}: this host shows no usable card", host))
            found.extend(of_host)
        selected = Selected(targets=tuple(found), origin=Origin.COMMAND_LINE, notes=_notes(read))
    elif declared := declared_targets(settings, project_file, gpus):
        selected = Selected(targets=declared, origin=Origin.PROJECT)
    else:
        host = machine()
        found = list(targets_of_host(host, gpus))
        if not found:
            raise NoTarget(
                _nothing("this machine shows no usable NVIDIA card", host)
                + ': name one with --target "RTX 5090:4@570.133.07", or with --host FILE from'
                " `stackfix host --format json` on the machine that has it"
            )
        selected = Selected(targets=tuple(found), origin=Origin.MACHINE, notes=remarks(host))
    return replace(selected, targets=_on(platforms, merge(selected.targets)))


def _on(platforms: Sequence[str], targets: tuple[Target, ...]) -> tuple[Target, ...]:
    if not platforms:
        return targets
    return merge(replace(target, platform=platform) for target in targets for platform in platforms)


def _nothing(words: str, host: Host) -> str:
    """`words` and why: the cards may be hidden, or there and unknown."""
    if host.cards and not host.visible:
        return f"{words} (CUDA_VISIBLE_DEVICES={host.visible_devices} hides them)"
    return f"{words} ({host.notes[0]})" if host.notes else words


def _notes(hosts: Sequence[Host]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for host in hosts for note in remarks(host)))
