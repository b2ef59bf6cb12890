"""Why: what stands behind a failed resolution, and what brings a package off its locked version.

Data comes in as resolvelib's causes, and goes out in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.solve.candidates import Candidates
from stackfix.solve.problem import Problem
from stackfix.solve.provider import Cause
from stackfix.solve.terms import PLAN, Candidate, Claim, PackageKey, StackRequirement

__all__ = ["Conflict", "conflict", "reasons"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Why a choice of frameworks cannot be completed."""

    reason: str
    about: str | None = None
    """The package that no version could be found for."""
    ways_out: tuple[str, ...] = ()
    """What outside the pins would clear it: "driver 570.26 or newer"."""


def conflict(causes: Iterable[Cause], candidates: Candidates) -> Conflict:
    """The conflict behind a failed resolution.

    When a single requirement admits only versions that fail by themselves, the fault of that
    version is the reason; else the requirements that exclude each other are.
    """
    asked = list(dict.fromkeys(cause.requirement for cause in causes))
    if not asked:
        return Conflict(reason="no combination of versions is left")
    first = asked[0]
    if isinstance(first, Claim):
        makers = " and ".join(sorted({one.origin for one in asked}))
        return Conflict(reason=f"{makers} {first.key.rivalry}")
    limits = [one for one in asked if isinstance(one, StackRequirement)]
    return Conflict(reason=_package_conflict(first.key, limits, candidates), about=first.name)


def _package_conflict(
    key: PackageKey, limits: list[StackRequirement], candidates: Candidates
) -> str:
    """Why no version of a package meets what is asked of it, and of what its versions ask for."""
    problem, name = candidates.problem, key.name
    excluding = _excluding([limit for limit in limits if limit.specifier])
    # The version in question is named by whoever reports the failure.
    others = [one for one in excluding if one.origin != PLAN or one.name != name]
    against = others if others and len(others) < len(excluding) else excluding
    said = " and ".join(_said(one) for one in against[:4] or limits[:2])
    if not problem.is_stack(name):
        return _outside(name, limits, problem)
    joint = SpecifierSet()
    for limit in limits:
        joint &= problem.overrides.get(name, limit.specifier)
    if name in problem.overrides:
        said += f", while an override holds {name}{problem.overrides[name]}"
    if name in problem.fixed and problem.locked.get(name) is not None:
        said += f", while {name} stays at {problem.locked[name]} ({problem.fixed[name]})"
    refused = candidates.refused(name).items()
    if faults := {why for version, why in refused if joint.contains(version, prereleases=True)}:
        return f"{said}, but {min(faults)}"
    own = _without_extra(key, joint, candidates) or _dead_end(key, joint, candidates)
    if own is not None:
        return own
    if len(excluding) < 2:
        return f"{said}, and no known release of {name} fits"
    if against is not excluding:
        return said
    return f"{said}: they exclude each other"


def _without_extra(key: PackageKey, admitted: SpecifierSet, candidates: Candidates) -> str | None:
    """Where the admitted versions lack the extra that is asked for, says so of the preferred."""
    if not key.extra:
        return None
    found = [
        candidate
        for candidate in candidates.of(key.name)
        if admitted.contains(candidate.version, prereleases=True)
    ]
    if not found or any(candidates.offers(key, candidate.release) for candidate in found):
        return None
    return f"{found[0].title} has no extra {key.extra}"


def _dead_end(key: PackageKey, admitted: SpecifierSet, candidates: Candidates) -> str | None:
    """What the preferred of the admitted versions asks for and can't have."""
    reasons = map(candidates.dead_end, candidates.admitted(key, [admitted]))
    return next((reason for reason in reasons if reason is not None), None)


def _excluding(limits: list[StackRequirement]) -> list[StackRequirement]:
    """The requirements that exclude what one of them pins; all of them where none pins."""
    pins = [limit for limit in limits if str(limit.specifier).startswith("==")]
    for pin in pins:
        version = str(pin.specifier).lstrip("=")
        if "*" in version or "," in version:
            continue
        against = [one for one in limits if not one.specifier.contains(version, prereleases=True)]
        if against:
            return [pin, *against]
    return limits


def _said(requirement: StackRequirement) -> str:
    if requirement.origin == PLAN:
        return str(requirement).replace("===", " ")
    return f"{requirement.origin} needs {requirement}"


def _outside(name: str, limits: Sequence[StackRequirement], problem: Problem) -> str:
    """Why uv can find no version of a package outside the stack."""
    said = " and ".join(_said(one) for one in limits if not one.unmoved)
    override = problem.overrides.get(name)
    if override is not None:
        return f"{said}, but the project's override holds {name}{override}"
    declared = " and ".join(
        f"{one.origin} asks for {one}" for one in problem.declared.get(name, ())
    )
    return f"{said}, but {declared}" if declared else f"{said}: they exclude each other"


def reasons(
    candidates: Candidates, versions: Mapping[str, Version], asked: Mapping[str, Iterable[Cause]]
) -> dict[str, str]:
    """For each package off its locked version: what excludes it there, in words.

    Either another package asks for something else, or the locked version itself asks for what
    the solution no longer has. `asked` holds what the solution was made under.
    """
    found: dict[str, str] = {}
    for name, version in versions.items():
        locked = candidates.problem.locked.get(name)
        if locked == version:
            continue
        reason = _asked_away(name, asked.get(name, ()), locked)
        if reason is None and locked is not None:
            reason = _outgrown(candidates, name, locked, versions)
        if reason is not None:
            found[name] = reason
    return found


def _asked_away(name: str, causes: Iterable[Cause], locked: Version | None) -> str | None:
    """A requirement that the locked version does not meet; exact pins before ranges.

    What a package's extra asks of the package itself is no reason.
    """
    against = [
        cause.requirement
        for cause in causes
        if isinstance(cause.requirement, StackRequirement)
        and cause.requirement.origin != PLAN
        and not (isinstance(cause.parent, Candidate) and cause.parent.name == name)
        and (locked is None or not cause.requirement.specifier.contains(locked, prereleases=True))
    ]
    against.sort(key=lambda requirement: "==" not in str(requirement.specifier))
    return f"{against[0].origin} needs {against[0]}" if against else None


def _outgrown(
    candidates: Candidates, name: str, locked: Version, versions: Mapping[str, Version]
) -> str | None:
    """A requirement of the locked version that the solution breaks."""
    before = candidates.at(name, locked)
    for requirement in candidates.dependencies(before):
        if isinstance(requirement, Claim) or requirement.key.extra:
            continue
        chosen = versions.get(requirement.name)
        if chosen is not None and not requirement.specifier.contains(chosen, prereleases=True):
            return f"{before.title} needs {requirement}"
    return None
