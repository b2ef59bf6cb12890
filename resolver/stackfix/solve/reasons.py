"""Why a package that no finding names has to move all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from packaging.version import Version

from stackfix.solve.candidates import Candidates
from stackfix.solve.problem import PLAN, Problem, StackRequirement

__all__ = ["reasons"]


def reasons(
    problem: Problem,
    domain: Candidates,
    versions: Mapping[str, Version],
    asked: Mapping[str, Sequence[StackRequirement]],
) -> dict[str, str]:
    """For each package off its locked version: the demand that excludes it there, in words.

    Either another package asks for something else, or the locked version itself asks for what
    the solution no longer has. `asked` holds the demands that the solution was made under.
    """
    found: dict[str, str] = {}
    for name, version in versions.items():
        locked = problem.locked.get(name)
        if locked == version:
            continue
        reason = _asked_away(name, asked.get(name, ()), locked)
        if reason is None and locked is not None:
            reason = _outgrown(domain, name, locked, versions)
        if reason is not None:
            found[name] = reason
    return found


def _asked_away(
    name: str, demands: Sequence[StackRequirement], locked: Version | None
) -> str | None:
    """A demand that the locked version does not meet; exact pins before ranges.

    What a package's extra asks of the package itself is no reason.
    """
    against = [
        demand
        for demand in demands
        if demand.origin != PLAN
        and demand.origin.partition(" ")[0] != name
        and (locked is None or not demand.specifier.contains(locked, prereleases=True))
    ]
    against.sort(key=lambda demand: "==" not in str(demand.specifier))
    return f"{against[0].origin} needs {against[0]}" if against else None


def _outgrown(
    domain: Candidates, name: str, locked: Version, versions: Mapping[str, Version]
) -> str | None:
    """A demand of the locked version that the solution breaks."""
    for demand in domain.locked_demands(name, locked):
        chosen = versions.get(demand.key)
        if chosen is not None and not demand.specifier.contains(chosen, prereleases=True):
            return f"{name} {locked} needs {demand}"
    return None
