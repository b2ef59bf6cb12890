"""The audit: from a lock to what is wrong with it. Every command that judges a lock goes this way.

The lock is read into the environments that a selection means, every rule is asked of each of them
on every target, and the project's policy weighs what they say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from stackfix.audit.environments import LockedEnvironment, LockedEnvironments, UvWalker
from stackfix.audit.forks import project_python, pythons
from stackfix.audit.judging import (
    Found,
    judge_environments,
    judge_integrity,
    judge_other_forks,
    other_linux,
)
from stackfix.audit.metadata import MetadataReader
from stackfix.audit.named_indexes import named_indexes
from stackfix.audit.selections import choices
from stackfix.model.finding import Finding, Severity
from stackfix.model.policy import Policy
from stackfix.model.selection import Selection
from stackfix.model.stack import usual_index
from stackfix.model.target import Target
from stackfix.rules.judge import ordered
from stackfix.rules.sf109_unmeasured import is_unknown
from stackfix.rules.sf502_disagrees import Disagrees
from stackfix.rules.sf505_other_index import OtherIndex
from stackfix.rules.sf507_older_lock import OlderLock
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.outdated import differences
from stackfix_lockfiles.project import Project

if TYPE_CHECKING:
    from stackfix.audit.inputs.flat import FlatLock

__all__ = ["Audit", "audit", "locked_environments"]

_DEFAULT_GROUPS = ("dev",)
_LINUX = "linux_x86_64"


@dataclass(frozen=True, kw_only=True)
class Audit:
    """A lock, its environments, and what the rules say of them as the policy weighs it."""

    lock: Lock | FlatLock
    targets: tuple[Target, ...]
    policy: Policy
    environments: LockedEnvironments
    found: tuple[Found, ...]
    """Weighed; without what the project accepts, and without rules that are off."""
    accepted: int = 0
    """Findings that the project accepts."""
    unread: tuple[str, ...] = ()
    """Packages whose requirements nobody read, so that SF502 says nothing of them."""

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, worst first, each once."""
        return ordered(one.finding for one in self.found)

    @cached_property
    def faults(self) -> tuple[Finding, ...]:
        """The findings that fail a check, and that a plan has to clear."""
        return tuple(finding for finding in self.findings if self.policy.is_fault(finding))

    @property
    def judged(self) -> Iterator[tuple[Target, LockedEnvironment]]:
        """Every target with each environment that it can install."""
        for target in self.targets:
            for environment in self.environments.of(target.platform):
                yield target, environment

    @property
    def unknown(self) -> tuple[str, ...]:
        """GPU packages of which nothing is known on some target's card, as `name==version`."""
        return tuple(
            sorted(
                {
                    f"{piece.name}=={piece.version}"
                    for target, environment in self.judged
                    for piece in environment.stack
                    if is_unknown(piece, target)
                }
            )
        )


def audit(
    lock: Lock | FlatLock,
    targets: Sequence[Target],
    selection: Selection,
    policy: Policy,
    *,
    graph: Graph,
    project: Project | None = None,
    python: str | None = None,
    made_now: bool = False,
    online: bool = False,
    environments: LockedEnvironments | None = None,
) -> Audit:
    """Audit a lock.

    Args:
        lock: a uv.lock, or a flat list of pins.
        targets: the cards, and what is known of their machines.
        selection: which of the lock's environments count.
        policy: what the project decides about findings.
        graph: what is known of wheels, cards and drivers.
        project: the uv project that the lock stands beside; None: nothing is said of its indexes,
            nor whether the lock is older than pyproject.toml.
        python: what a `.python-version` asks for where there is no project.
        made_now: uv made the lock of this very project a moment ago, so it cannot be older.
        environments: those of the lock where it was walked before, with the same selection.
        online: whether an index may be asked for what neither facts nor caches hold.

    Raises:
        InputError: the selection names an extra or group that does not exist, or conflicts; or the
            lock does not admit its Python.
    """
    if environments is None:
        environments = locked_environments(lock, selection, graph, project, python)
    found = [
        *judge_environments(environments, targets, lock.packages),
        *_unsupported(lock, targets, environments),
    ]
    unread: tuple[str, ...] = ()
    if isinstance(lock, Lock):
        wrong_files = tuple(Disagrees().judge_files(lock, graph))
        damaged = {(one.package, one.version) for one in wrong_files}
        reader = MetadataReader(lock, graph, damaged, online=online)
        found += judge_other_forks(environments, targets)
        # An entry with other files than its version has does not install that version.
        found = [f for f in found if (f.finding.package, f.finding.version) not in damaged]
        found += judge_integrity(environments, _platforms(environments, targets), lock, reader)
        found += map(Found, wrong_files)
        found += map(Found, _of_the_whole(lock, graph, project, made_now=made_now, online=online))
        unread = tuple(sorted(reader.unread))
    kept = [one for one in found if not policy.accepts(one.finding)]
    return Audit(
        lock=lock,
        targets=tuple(targets),
        policy=policy,
        environments=environments,
        found=tuple(_weighed(kept, policy)),
        accepted=len(found) - len(kept),
        unread=unread,
    )


def locked_environments(
    lock: Lock | FlatLock,
    selection: Selection,
    graph: Graph,
    project: Project | None = None,
    python: str | None = None,
) -> LockedEnvironments:
    """The environments of a lock that a selection means, walked when they are asked for."""
    wanted = project.python_version if project else python
    own = selection.python or project_python(lock.requires_python, wanted)
    if not isinstance(lock, Lock):
        return LockedEnvironments(walker=lock, graph=graph, choices=lock.choices, pythons=(own,))
    default = project.default_groups if project else _DEFAULT_GROUPS
    return LockedEnvironments(
        walker=UvWalker(lock),
        graph=graph,
        choices=choices(lock, selection, default),
        pythons=(own,) if selection.python else pythons(lock, own, graph.packages.is_stack),
        lock=lock,
        strict=not selection.every,
        usual=usual_index(lock.packages),
    )


def _of_the_whole(
    lock: Lock, graph: Graph, project: Project | None, *, made_now: bool, online: bool
) -> Iterator[Finding]:
    """What is wrong with the lock as a file: its indexes, its age, its hashes."""
    if project is not None:
        yield from OtherIndex().judge(lock, named_indexes(project))
    if project is not None and not made_now:
        # Of a pyproject.toml that cannot be read as uv does nothing is claimed.
        with suppress(InputError):
            yield from OlderLock().judge(differences(project, lock), graph)
    if online:
        from stackfix.audit.online import unknown_hashes

        yield from unknown_hashes(lock)


def _platforms(environments: LockedEnvironments, targets: Sequence[Target]) -> tuple[str, ...]:
    """Where the lock has to agree with the wheels: the targets' platforms, and every other Linux
    that brings GPU packages of its own."""
    own = tuple(dict.fromkeys(target.platform for target in targets)) or (_LINUX,)
    return (*own, *other_linux(environments, own))


def _unsupported(
    lock: Lock | FlatLock, targets: Sequence[Target], environments: LockedEnvironments
) -> Iterator[Found]:
    for target in targets:
        if target.platform in environments.unsupported:
            yield Found(
                Finding(
                    code="SF501",
                    severity=Severity.ERROR,
                    package=lock.name.rpartition("/")[2],
                    version="",
                    target=target,
                    message=f"the lock is not made for {target.platform} "
                    "(tool.uv.environments leaves it out)",
                )
            )


def _weighed(found: Sequence[Found], policy: Policy) -> Iterator[Found]:
    for one in found:
        finding = policy.weighed(one.finding)
        if finding is one.finding:
            yield one
        elif finding is not None:
            yield replace(one, finding=finding)
