"""From targets to targets: what each target would install, as the solver and the rules see it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet

from stackfix.audit.integrity import integrity
from stackfix.audit.pythons import lowest_python
from stackfix.model.environment import TargetEnvironment
from stackfix.model.finding import Finding
from stackfix.model.stack import Stack
from stackfix.plan.edits.scope import chosen_groups
from stackfix.plan.request import Request
from stackfix.rules.judge import judge, ordered
from stackfix.rules.sf109_unmeasured import is_unknown
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.environment import environment
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.platforms import Platform

__all__ = ["LockState", "lock_state", "lowest_python", "stack_versions", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LockState:
    """A lock as the targets see it: a site for each target and platform."""

    lock: Lock
    environments: tuple[TargetEnvironment, ...]
    python: str
    """The Python that the environments install for."""

    @property
    def stacks(self) -> tuple[Stack, ...]:
        return tuple(site.stack for site in self.environments)

    @property
    def gpu_packages(self) -> set[str]:
        """Names of the GPU packages that some site installs."""
        return {name for stack in self.stacks for name in stack.pieces}

    def findings(self, graph: Graph) -> tuple[Finding, ...]:
        """What the rules say about this lock on all environments."""
        found = judge(
            [(site.target, site.stack) for site in self.environments],
            stack_versions(self.lock, graph),
            graph,
        )
        return ordered((*found, *integrity(self.lock, self.environments, graph)))


def lock_state(lock: Lock, request: Request) -> LockState:
    """Walk the lock for every target; InputError where extras or groups don't exist or conflict."""
    python = request.python or _project_python(request, lock)
    found: dict[str, tuple[Stack, Mapping[str, str]]] = {}
    environments = []
    for target in request.targets:
        for name in request.platforms or (target.platform,):
            if name not in found:
                walked = environment(
                    lock,
                    platform=Platform.parse(name),
                    python=python,
                    extras=request.extras,
                    groups=chosen_groups(request, lock),
                    all_extras=request.all_extras,
                    default_groups=request.project.default_groups,
                )
                found[name] = (
                    Stack.of(walked, request.graph),
                    walked.platform.markers(walked.python),
                )
            stack, markers = found[name]
            environments.append(TargetEnvironment(target=target, stack=stack, markers=markers))
    return LockState(lock=lock, environments=tuple(environments), python=python)


def _project_python(request: Request, lock: Lock) -> str:
    """The project's own choice where it makes one, else the lowest Python of the lock."""
    wanted = re.search(r"\d+\.\d+(\.\d+)?", request.project.python_version or "")
    if wanted and SpecifierSet(lock.requires_python).contains(wanted.group()):
        return wanted.group()
    return lowest_python(lock.requires_python)


def stack_versions(lock: Lock, graph: Graph) -> dict[str, tuple[str, ...]]:
    """All locked versions of every stack package, whichever fork they belong to."""
    versions: dict[str, tuple[str, ...]] = {}
    for package in lock.packages:
        if package.version is not None and graph.packages.get(package.name) is not None:
            versions[package.name] = (*versions.get(package.name, ()), package.version)
    return versions


def unknown(environments: Iterable[TargetEnvironment]) -> tuple[str, ...]:
    """GPU packages of which nothing is known on some site's card, as `name==version`."""
    found = {
        f"{piece.name}=={piece.version}"
        for site in environments
        for piece in site.stack
        if is_unknown(piece, site.target)
    }
    return tuple(sorted(found))
