"""Which cards a lock is judged for. The machine that runs the check is never asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from stackfix.model.target import Target
from stackfix.targets.declared import declared_targets
from stackfix.targets.parse import parse_target
from stackfix_knowledge.gpus import GpuTable
from stackfix_lockfiles.pyproject import Pyproject

__all__ = ["names_of", "targets_of"]


def targets_of(
    named: Sequence[str],
    hosts: Sequence[Path],
    platforms: Sequence[str],
    declared: Sequence[Pyproject],
    gpus: GpuTable,
) -> tuple[Target, ...]:
    """Those of the command line, else those of the first file that declares some; maybe none.

    Raises TargetError and InputError.
    """
    found: list[Target] = [parse_target(text, gpus) for text in named]
    for path in hosts:
        found += _of_host(path, gpus)
    if not named and not hosts:
        for file in declared:
            found = list(declared_targets(file.table("tool", "stackfix"), Path(file.shown), gpus))
            if found:
                break
    if platforms:
        found = [replace(target, platform=name) for target in found for name in platforms]
    return tuple(dict.fromkeys(found))


def _of_host(path: Path, gpus: GpuTable) -> tuple[Target, ...]:
    from stackfix.host.document import read_host
    from stackfix.targets.errors import NoTarget
    from stackfix.targets.hosts import targets_of_host

    found = targets_of_host(read_host(path), gpus)
    if not found:
        raise NoTarget(f"{path}: this host shows no usable card")
    return found


def names_of(targets: Sequence[Target]) -> Mapping[Target, str]:
    """A short name for each target, the whole label where short ones are the same."""
    shorts = [target.short for target in targets]
    return {
        target: target.short if shorts.count(target.short) == 1 else target.label
        for target in targets
    }
