"""Answers to "why this?" and "why not that?": asked of the same solver that made the plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from stackfix.plan.obstacles import grouped
from stackfix.plan.plan import Answer, Move, Obstacle
from stackfix.rules.finding import Finding
from stackfix.rules.judge import errors
from stackfix.solve.conflict import Conflict
from stackfix.solve.domain import Domain
from stackfix.solve.resolve import Solution, complete
from stackfix.solve.search import Failure
from stackfix.solve.world import World

__all__ = ["answers"]

MOST = 40
"""Versions looked at for one question."""


def answers(
    scene: World,
    why: Sequence[str],
    why_not: Sequence[str],
    moves: Iterable[Move],
    findings: Sequence[Finding],
) -> tuple[Answer, ...]:
    """One answer for each question, in the order in which they were asked."""
    domain = Domain(scene)
    by_name = {move.package: move for move in moves}
    return (
        *(_why(scene, domain, name, by_name.get(name), findings) for name in why),
        *(_why_not(scene, domain, Requirement(text), by_name) for text in why_not),
    )


def _why(
    scene: World, domain: Domain, name: str, move: Move | None, findings: Sequence[Finding]
) -> Answer:
    question = f"why {name}"
    if not scene.present(name):
        return Answer(question=question, lines=(f"{name} is not part of this environment",))
    if move is None:
        locked = scene.locked[name]
        faults = errors(f for f in findings if f.package == name)
        said = (
            faults[0].message if faults else "no error on any target, and nothing asks it to move"
        )
        return Answer(question=question, lines=(f"{name} stays at {locked}: {said}",))
    lines = [f"{name} {move.before or 'new'} → {move.after or 'leaves'}: {move.because}"]
    if move.after is None or name not in scene.locked:
        return Answer(question=question, lines=tuple(lines))
    chosen = Version(move.after.partition(",")[0])
    nearer = list(_nearer(domain, name, chosen))
    if nearer:
        lines.append("why not less:")
    return Answer(
        question=question, lines=tuple(lines), obstacles=_failing(scene, domain, name, nearer)
    )


def _nearer(domain: Domain, name: str, chosen: Version) -> Iterator[Version]:
    """Versions that would have been preferred to the chosen one, the most preferred first."""
    costs = domain.costs(name)
    own = next((cost for version, cost in costs.items() if _public(version) == chosen), None)
    if own is None:
        return
    for version, cost in sorted(costs.items(), key=lambda item: item[1]):
        if cost < own:
            yield version


def _public(version: Version) -> Version:
    return Version(version.public)


def _why_not(
    scene: World, domain: Domain, requirement: Requirement, moves: dict[str, Move]
) -> Answer:
    name = canonicalize_name(requirement.name)
    question = f"why not {requirement}"
    locked = scene.locked.get(name)
    home = locked.local if locked else None
    known = [
        release.version
        for release in scene.graph.releases(name)
        if release.version.local == home or "+" in str(requirement.specifier)
    ]
    asked = [v for v in known if requirement.specifier.contains(v, prereleases=True)]
    if not asked:
        return Answer(question=question, lines=(f"no known release of {name} is meant by that",))
    chosen = moves[name].after if name in moves else str(scene.locked.get(name, ""))
    obstacles = _failing(scene, domain, name, asked[-MOST:])
    failing = {version for obstacle in obstacles for version in obstacle.versions}
    working = [str(v) for v in asked[-MOST:] if str(v) not in failing]
    lines = []
    if working and chosen in working:
        lines.append(f"{name} {chosen} is what the plan takes")
    elif working:
        lines.append(
            f"{', '.join(working)} would work as well; the plan takes {name} {chosen}, "
            f"which changes less: stackfix plan --require '{requirement}'"
        )
    return Answer(question=question, lines=tuple(lines), obstacles=obstacles)


def _failing(
    scene: World, domain: Domain, name: str, versions: Iterable[Version]
) -> tuple[Obstacle, ...]:
    """Of these versions those that cannot be part of a plan, each with its reason."""
    refused = domain.refused(name)
    failures = []
    for version in versions:
        if version in refused:
            failures.append(Failure(package=name, version=version, reason=refused[version]))
            continue
        outcome: Solution | Conflict = complete(scene, domain, {name: version})
        if isinstance(outcome, Conflict):
            failures.append(
                Failure(package=name, version=version, reason=outcome.reason, lifts=outcome.lifts)
            )
    return grouped(failures)
