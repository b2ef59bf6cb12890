"""Every rule asked of every environment of a lock, on every target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.version import Version

from stackfix.audit.environments import LockedEnvironment, LockedEnvironments, versions_of
from stackfix.audit.forks import comes_alive, other_machine
from stackfix.audit.metadata import MetadataReader
from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix.rules.judge import judge_lock, judge_piece, judge_stack
from stackfix.rules.locked import DeclaredEnvironment
from stackfix.rules.requires import DeclaredMetadata
from stackfix.rules.sf502_disagrees import Disagrees
from stackfix.rules.sf503_override import Override
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.lock import Lock, LockedPackage, LockedRequirement
from stackfix_lockfiles.markers import Truths

__all__ = ["Found", "judge_environments", "judge_integrity", "judge_other_forks", "other_linux"]

_IN_FORKS = frozenset({"SF101", "SF103"})
"""What matters of a fork for a machine that no target has."""


@dataclass(frozen=True, slots=True)
class Found:
    """A finding and the first environment that it was made in; None: it is of the whole lock."""

    finding: Finding
    place: LockedEnvironment | None = None


class _Once:
    """Lets each finding through once: the plainest environment comes first and keeps it."""

    def __init__(self) -> None:
        self._seen: set[object] = set()

    def __call__(self, finding: Finding) -> bool:
        key = (finding.key, finding.message)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True


def judge_environments(
    places: LockedEnvironments, targets: Sequence[Target], packages: Sequence[LockedPackage]
) -> Iterator[Found]:
    """What the rules say of the targets' environments, then of what they leave over."""
    graph, fresh = places.graph, _Once()
    known: dict[tuple[int, Target], list[Finding]] = {}

    def piece_findings(piece: Piece, target: Target, graph: Graph) -> list[Finding]:
        key = (id(piece), target)
        if key not in known:
            known[key] = judge_piece(piece, target, graph)
        return known[key]

    for target in targets:
        everywhere = places.of(target.platform)
        own_versions = versions_of(place for place in everywhere if place.own_python)
        for place in everywhere:
            for finding in judge_stack(place.stack, target, graph, judge_one=piece_findings):
                if _other_python_lacks_wheel(finding, place, own_versions):
                    continue
                if fresh(finding):
                    yield Found(finding, place)
    for finding in judge_lock(_versions(packages, graph), _all_stacks(places, targets), graph):
        if fresh(finding):
            yield Found(finding)


def _all_stacks(places: LockedEnvironments, targets: Sequence[Target]) -> tuple[Stack, ...]:
    platforms = dict.fromkeys(target.platform for target in targets)
    return tuple(place.stack for platform in platforms for place in places.of(platform))


def _other_python_lacks_wheel(
    finding: Finding, place: LockedEnvironment, own: Mapping[str, set[Version]]
) -> bool:
    """That a release has no wheel for a Python that the project merely admits is no fault."""
    if finding.code != "SF501" or place.own_python:
        return False
    return any(str(version) == finding.version for version in own.get(finding.package, ()))


def other_linux(places: LockedEnvironments, platforms: Sequence[str]) -> tuple[str, ...]:
    """Linux machines beside `platforms` for which the lock has GPU packages of their own."""
    for platform in platforms:
        places.whole(platform)
    left = places.left_over()
    others = {other: None for platform in platforms if (other := other_machine(platform))}
    return tuple(
        other
        for other in others
        if other not in platforms
        and places.lock is not None
        and any(comes_alive(places.lock, left, other, python) for python in places.pythons)
    )


def judge_other_forks(places: LockedEnvironments, targets: Sequence[Target]) -> Iterator[Found]:
    """GPU packages of a fork for the other Linux machine, in versions that no target installs."""
    fresh = _Once()
    platforms = tuple(dict.fromkeys(target.platform for target in targets))
    installed = versions_of(place for platform in platforms for place in places.of(platform))
    for platform in other_linux(places, platforms):
        for place in places.of(platform):
            for piece in place.stack:
                if piece.version not in installed.get(piece.name, ()):
                    for found in _in_fork(piece, platform, targets, places.graph):
                        if fresh(found):
                            yield Found(found, place)


def _in_fork(
    piece: Piece, platform: str, targets: Sequence[Target], graph: Graph
) -> Iterator[Finding]:
    for target in targets:
        if other_machine(target.platform) != platform:
            continue
        for finding in judge_piece(piece, target, graph):
            if finding.code in _IN_FORKS:
                message = f"{finding.message} (in the fork for {platform})"
                yield replace(finding, severity=Severity.WARNING, message=message)


def judge_integrity(
    places: LockedEnvironments, platforms: Sequence[str], lock: Lock, statements: MetadataReader
) -> Iterator[Found]:
    """SF502 and SF503, of every environment that differs in any package."""
    fresh = _Once()
    overrides: dict[str, tuple[LockedRequirement, ...]] = {}
    for override in lock.manifest.overrides:
        overrides[override.name] = (*overrides.get(override.name, ()), override)
    for platform in platforms:
        for place in places.whole(platform):
            walked = place.environment

            def stated(package: LockedPackage, platform: str = platform) -> DeclaredMetadata | None:
                return statements.of(package, platform)

            locked = DeclaredEnvironment(
                environment=walked,
                truths=Truths(walked.platform.markers(walked.python)),
                stated=stated,
                is_stack=places.graph.packages.is_stack,
                is_library=places.graph.packages.is_library,
                overrides=overrides,
                excludes=frozenset(lock.manifest.excludes),
            )
            for rule in (Disagrees(), Override()):
                for finding in rule.judge(locked):
                    if fresh(finding):
                        yield Found(finding, place)


def _versions(packages: Sequence[LockedPackage], graph: Graph) -> dict[str, tuple[str, ...]]:
    versions: dict[str, tuple[str, ...]] = {}
    for package in packages:
        if package.version is not None and graph.packages.is_stack(package.name):
            versions[package.name] = (*versions.get(package.name, ()), package.version)
    return versions
