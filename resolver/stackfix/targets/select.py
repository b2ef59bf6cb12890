"""Whose word counts: the command line's, else the project's, else this machine's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.model.target import Target
from stackfix.targets.declared import declared_targets
from stackfix.targets.hosts import merge, targets_of_host
from stackfix.targets.parse import TargetError, parse_target
from stackfix_knowledge.cards.gpus import GpuTable
from stackfix_lockfiles.pyproject import Pyproject

if TYPE_CHECKING:
    from stackfix.host.host import Host

__all__ = ["NoTarget", "Origin", "Selected", "select_targets"]


class NoTarget(TargetError):
    """Nobody named a target and this machine has no card to plan for."""


class Origin(StrEnum):
    """Who named the targets."""

    COMMAND_LINE = "command line"
    PROJECT = "project"
    MACHINE = "this machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The targets of a run."""

    targets: tuple[Target, ...]
    """None at all only where nobody named one and the machine was not to be asked."""
    origin: Origin
    notes: tuple[str, ...] = ()
    """What the hosts could not find out about themselves, and what is wrong with them."""


def select_targets(
    *,
    gpus: GpuTable,
    named: Sequence[str] = (),
    hosts: Sequence[Path] = (),
    declared: Iterable[Pyproject] = (),
    machine: Callable[[], Host] | None = None,
    platforms: Sequence[str] = (),
) -> Selected:
    """The targets that a person named, else those of the first file of `declared` that has some.

    `hosts` are files that `stackfix host` wrote. `machine` is asked only when nobody named a
    target; without it, there are none then. `platforms` replaces the platform of every target.
    Raises TargetError, InputError and NoTarget.
    """
    if named or hosts:
        selected = _named(named, hosts, gpus)
    elif found := _declared(declared, gpus):
        selected = Selected(targets=found, origin=Origin.PROJECT)
    elif machine is not None:
        selected = _of_machine(machine(), gpus)
    else:
        selected = Selected(targets=(), origin=Origin.PROJECT)
    return replace(selected, targets=_on(platforms, merge(selected.targets)))


def _named(named: Sequence[str], hosts: Sequence[Path], gpus: GpuTable) -> Selected:
    targets = [parse_target(text, gpus) for text in named]
    notes: list[str] = []
    for path in hosts:
        from stackfix.host.document import read_host
        from stackfix.host.health import remarks

        host = read_host(path)
        of_host = targets_of_host(host, gpus)
        if not of_host:
            raise NoTarget(_nothing(f"{path}: this host shows no usable card", host))
        targets += of_host
        notes += remarks(host)
    return Selected(
        targets=tuple(targets), origin=Origin.COMMAND_LINE, notes=tuple(dict.fromkeys(notes))
    )


def _declared(files: Iterable[Pyproject], gpus: GpuTable) -> tuple[Target, ...]:
    for file in files:
        if found := declared_targets(file, gpus):
            return found
    return ()


def _of_machine(host: Host, gpus: GpuTable) -> Selected:
    from stackfix.host.health import remarks

    found = targets_of_host(host, gpus)
    if not found:
        raise NoTarget(
            _nothing("this machine shows no usable NVIDIA card", host)
            + ': name one with --target "RTX 5090:4@570.133.07", or with --host FILE from'
            " `stackfix host --format json` on the machine that has it"
        )
    return Selected(targets=found, origin=Origin.MACHINE, notes=remarks(host))


def _on(platforms: Sequence[str], targets: tuple[Target, ...]) -> tuple[Target, ...]:
    if not platforms:
        return targets
    return merge(replace(target, platform=platform) for target in targets for platform in platforms)


def _nothing(words: str, host: Host) -> str:
    """`words` and why: the cards may be hidden, or there and unknown."""
    if host.cards and not host.visible:
        return f"{words} (CUDA_VISIBLE_DEVICES={host.visible_devices} hides them)"
    return f"{words} ({host.notes[0]})" if host.notes else words
