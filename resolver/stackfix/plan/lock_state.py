"""The state of a lock as a plan sees it: for each target the one environment that it installs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stackfix.audit.environments import LockedEnvironments
from stackfix.audit.lock_audit import Audit, audit, locked_environments
from stackfix.model.environment import TargetEnvironment
from stackfix.model.stack import Stack
from stackfix.plan.request import Request
from stackfix.rules.sf109_unmeasured import is_unknown
from stackfix_lockfiles.lock import Lock

__all__ = ["LockState", "audited", "lock_state", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LockState:
    """A lock as the targets see it."""

    lock: Lock
    environments: tuple[TargetEnvironment, ...]
    """One for each target, with the project's own Python."""
    python: str
    """The Python that they install for."""

    @property
    def stacks(self) -> tuple[Stack, ...]:
        return tuple(environment.stack for environment in self.environments)

    @property
    def gpu_packages(self) -> set[str]:
        """Names of the GPU packages that some environment installs."""
        return {name for stack in self.stacks for name in stack.pieces}


def audited(
    request: Request,
    lock: Lock,
    files: Mapping[Path, bytes] | None = None,
    environments: LockedEnvironments | None = None,
) -> Audit:
    """The audit of a lock that uv made, or would make, of the project with new content of `files`.

    `environments` are those of the lock where it was walked before. Raises InputError.
    """
    return audit(
        lock,
        request.targets,
        request.selection,
        request.policy,
        graph=request.graph,
        project=request.project.with_files(files or {}),
        made_now=True,
        environments=environments,
    )


def lock_state(
    lock: Lock, request: Request, environments: LockedEnvironments | None = None
) -> LockState:
    """What each target installs of a lock.

    Raises:
        UnsupportedPlatformError: the lock is not made for a target's platform.
        InputError: an extra or group does not exist, or what is chosen conflicts.
    """
    if environments is None:
        environments = locked_environments(lock, request.selection, request.graph, request.project)
    found = []
    for target in request.targets:
        locked = environments.plainest(target.platform)
        walked = locked.environment
        found.append(
            TargetEnvironment(
                target=target,
                stack=locked.stack,
                markers=walked.platform.markers(walked.python),
            )
        )
    return LockState(lock=lock, environments=tuple(found), python=environments.pythons[0])


def unknown(environments: Iterable[TargetEnvironment]) -> tuple[str, ...]:
    """GPU packages of which nothing is known on some environment's card, as `name==version`."""
    found = {
        f"{piece.name}=={piece.version}"
        for environment in environments
        for piece in environment.stack
        if is_unknown(piece, environment.target)
    }
    return tuple(sorted(found))
