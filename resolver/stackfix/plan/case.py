"""The case at hand: the request, the lock as it is, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stackfix.audit.environments import LockedEnvironments
from stackfix.model.finding import Finding
from stackfix.plan.lock_state import LockState
from stackfix.plan.request import Request
from stackfix.plan.unlockable.asked import DeclaredVersion
from stackfix_lockfiles.edits import Edit
from stackfix_lockfiles.lock import Lock

__all__ = ["Case"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What every later step starts from."""

    request: Request
    before: LockState
    findings: tuple[Finding, ...]
    walked: LockedEnvironments | None = None
    """The environments of the lock, those of other Pythons too; None where a lock is made up."""
    origin: Lock | None
    """The lock that moves are counted from; None: there is none, and uv can make none."""
    asked: Mapping[str, DeclaredVersion] = field(default_factory=dict)
    """Packages whose moves are counted from what the project asks for, since uv cannot lock it."""
    clashing: Mapping[str, Finding] = field(default_factory=dict)
    """By package, the clash that it is part of."""
    repairs: tuple[Edit, ...] = ()
    """Edits without which uv locks nothing; every attempt has them."""
    outdated: tuple[Finding, ...] = ()
    """What pyproject.toml asks for today and `on_disk` was not made for: SF507."""
    on_disk: Lock | None = None
    """The lock in the project, where uv would bring it up to date first."""
    notes: tuple[str, ...] = ()
    """What has to be said of where the plan starts, one line each."""

    @property
    def faults(self) -> tuple[Finding, ...]:
        """What a plan has to clear."""
        return tuple(f for f in self.findings if self.request.policy.is_fault(f))
