"""Where a move starts from if there is no lock to start from: at what the project asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.model.environment import TargetEnvironment
from stackfix.model.stack import Piece, Stack
from stackfix.plan.lock_state import LockState
from stackfix.plan.problems.project import active
from stackfix.plan.request import Request
from stackfix.solve.specifier import exact, kept_clauses, written
from stackfix_knowledge.stack.packages import Role
from stackfix_knowledge.wheels.release import Release
from stackfix_lockfiles.environment import Environment

__all__ = ["DeclaredVersion", "asked_of", "named_alone", "standing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredVersion:
    """What the project asks of one package, where uv cannot lock all that it asks."""

    specifier: SpecifierSet
    version: Version
    """The pinned one, or the newest known one that it admits; with the index's local part."""

    @property
    def text(self) -> str:
        """The version that is pinned, "9.8.0.87", or the range, ">=9.8"."""
        pinned = exact(self.specifier)
        return str(pinned) if pinned else written(self.specifier)

    def met_by(self, version: Version) -> bool:
        """Whether a version is what is asked for, from the index that it is asked from."""
        admitted = self.specifier.contains(version.public, prereleases=True)
        return admitted and version.local == self.version.local


def asked_of(request: Request, lock_state: LockState) -> dict[str, DeclaredVersion]:
    """What the active requirements and the constraints ask of the packages of the lock_state."""
    declared = (*active(request, lock_state), *request.project.constraints)
    limits: dict[str, list[SpecifierSet]] = {}
    for one in declared:
        specifier = one.requirement.specifier
        if one.requirement.url is None and kept_clauses(specifier) != specifier:
            limits.setdefault(one.name, []).append(specifier)
    found: dict[str, DeclaredVersion] = {}
    for name in sorted(limits.keys() & lock_state.gpu_packages):
        index = next(p.version.local for s in lock_state.stacks if (p := s.get(name)))
        joint = SpecifierSet()
        for limit in limits[name]:
            joint &= limit
        # Where the project contradicts itself, its first word counts.
        for wanted in dict.fromkeys((joint, *limits[name])):
            version = _version(request, lock_state, name, wanted, index)
            if version is not None:
                found[name] = DeclaredVersion(specifier=wanted, version=version)
                break
    return found


def _version(
    request: Request, lock_state: LockState, name: str, wanted: SpecifierSet, index: str | None
) -> Version | None:
    """The version that stands for a specifier; None where no known one meets it."""
    pinned = exact(wanted)
    if pinned is not None:
        if not wanted.contains(pinned, prereleases=True):
            return None
        return Version(f"{pinned}+{index}") if index and not pinned.local else pinned
    admitted = [
        release.version
        for release in request.graph.releases(name)
        if release.version.local == index
        and wanted.contains(release.version, prereleases=False)
        and _installable(release, lock_state.environments)
    ]
    return max(admitted, default=None)


def _installable(release: Release, environments: Iterable[TargetEnvironment]) -> bool:
    return not release.yanked and all(release.wheel(s.platform) is not None for s in environments)


def standing(
    request: Request,
    lock_state: LockState,
    asked: Mapping[str, DeclaredVersion],
    aside: frozenset[str],
    explained: frozenset[str],
) -> LockState:
    """The lock_state with the packages whose limits were set `aside` at what is asked of them.

    Libraries whose clash no fact explains stay where uv put them: nothing else tells which of
    their versions go with the rest.
    """
    graph = request.graph
    placed = {
        name: (package, asked[name].version)
        for name in aside & asked.keys()
        if (package := graph.packages.get(name)) is not None
        and (name in explained or package.role is not Role.LIBRARY)
    }

    environments = []
    for environment in lock_state.environments:
        pieces = dict(environment.stack.pieces)
        for name, (package, version) in placed.items():
            if name in pieces:
                pieces[name] = Piece.known(graph, package, version, environment.platform)
        stack = _stack(environment.stack, pieces, environment.stack.environment)
        environments.append(replace(environment, stack=stack))
    return replace(lock_state, environments=tuple(environments))


def named_alone(request: Request, lock_state: LockState) -> LockState:
    """The lock_state with nothing but what the project names: the rest is nobody's word yet."""
    named = {declared.name for declared in active(request, lock_state)}
    environments = []
    for environment in lock_state.environments:
        pieces = {name: piece for name, piece in environment.stack.pieces.items() if name in named}
        environments.append(replace(environment, stack=_stack(environment.stack, pieces, None)))
    return replace(lock_state, environments=tuple(environments))


def _stack(like: Stack, pieces: Mapping[str, Piece], walked: Environment | None) -> Stack:
    return Stack(platform=like.platform, python=like.python, pieces=pieces, environment=walked)
