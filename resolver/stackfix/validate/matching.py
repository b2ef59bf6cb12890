"""An environment beside the lock that it should hold."""

from __future__ import annotations

from collections.abc import Mapping

from stackfix.validate.errors import CannotInstall
from stackfix.validate.order import Order, selected
from stackfix.validate.python import EnvironmentPython
from stackfix.validate.result import Check, Outcome, StageResult
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.environment import ConflictError, UnsupportedPlatformError
from stackfix_lockfiles.errors import InputError

__all__ = ["compared", "locked_versions", "matched"]


def locked_versions(order: Order, python: EnvironmentPython) -> Mapping[str, str]:
    """The version that the lock has of each package that is chosen, or installed anyway.

    Without installed ones that were not chosen and that the lock has in several versions. Raises
    InputError for an extra or a group that the project lacks.
    """
    versions: dict[str, str] = {}
    for name in python.packages:
        found = {package.version for package in order.lock.named(name)}
        if len(found) == 1 and (version := found.pop()) is not None:
            versions[name] = version
    try:
        chosen = selected(order, python.version).installed
    except (CannotInstall, UnsupportedPlatformError, ConflictError):
        return versions
    except InputError as error:
        if error.place != "requires-python":
            raise
        return versions
    return versions | {
        name: package.version for name, package in chosen.items() if package.version is not None
    }


def matched(locked: Mapping[str, str], python: EnvironmentPython, graph: Graph) -> StageResult:
    """Whether the GPU packages of the lock are what is installed."""
    checks = tuple(
        compared(name, version, python)
        for name, version in sorted(locked.items())
        if graph.packages.get(name) is not None
    )
    bad = [check for check in checks if check.outcome is Outcome.FAILED]
    outcome, reason = Outcome.PASSED, ""
    if bad:
        more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
        outcome, reason = Outcome.FAILED, f"{bad[0].name}: {bad[0].detail}{more}"
    elif not checks:
        outcome, reason = Outcome.SKIPPED, "the lock has no GPU package"
    return StageResult(
        name="lock",
        title="installed versions against the lock",
        outcome=outcome,
        reason=reason,
        checks=checks,
    )


def compared(name: str, wanted: str | None, python: EnvironmentPython) -> Check:
    """Whether one package is installed in the version that is wanted; None: in any."""
    found = python.packages.get(name)
    if found is None:
        detail = "it is not installed" + (f", the lock has {wanted}" if wanted else "")
        return Check(name=name, outcome=Outcome.FAILED, detail=detail)
    if wanted is not None and found.version != wanted:
        detail = f"{found.version} is installed, the lock has {wanted}"
        return Check(name=name, outcome=Outcome.FAILED, detail=detail)
    return Check(name=name, outcome=Outcome.PASSED, detail=found.version)
