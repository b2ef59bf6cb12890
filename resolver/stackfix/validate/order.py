"""What an environment is to hold: a lock, and what of it is meant."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stackfix.host.system import platform_name
from stackfix.validate.errors import CannotInstall
from stackfix_lockfiles.environment import Environment, environment
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.platforms import Platform
from stackfix_lockfiles.project import Project

__all__ = ["Order", "name_of", "selected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be installed."""

    project: Project
    lock: Lock
    files: Mapping[Path, bytes]
    """A plan's new files, by path below the project's root; empty for the project as it is."""
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    all_extras: bool = False
    everything: bool = False
    """Also what the stack does not need; builds what has no wheel."""
    offline: bool = False


def name_of(order: Order) -> str:
    """The name of a kept folder: the same for the same lock and choice."""
    choice = (order.lock.digest, order.extras, order.groups, order.all_extras, order.everything)
    text = repr((str(order.project.root), *choice))
    return f"kept-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def selected(order: Order, python: str) -> Environment:
    """What `uv sync` would install here with this Python. Raises CannotInstall, InputError."""
    try:
        platform = Platform.parse(platform_name())
    except ValueError:
        raise CannotInstall(f"no lock can be installed on {platform_name()}") from None
    return environment(
        order.lock,
        platform=platform,
        python=python,
        extras=order.extras,
        groups=_groups(order),
        all_extras=order.all_extras,
        default_groups=order.project.default_groups,
    )


def _groups(order: Order) -> tuple[str, ...] | None:
    default = order.project.default_groups
    if not order.groups or default == "all":
        return None
    return (*default, *order.groups)
