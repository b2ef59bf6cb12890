"""Tying an answer to the project's own stack: where rules and log agree, and where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from stackfix.diagnose.diagnosis import Diagnosis, StackMatch

if TYPE_CHECKING:
    from stackfix.model.finding import Finding
    from stackfix_knowledge.stack.packages import PackageTable

__all__ = ["PLAN", "tie"]

PLAN = "stackfix plan"


def tie(
    diagnosis: Diagnosis,
    findings: Sequence[Finding],
    locked: Mapping[str, Sequence[str]],
    driver: str | None,
    packages: PackageTable,
) -> StackMatch:
    """What the rules say of this family in this lock, and whether log and lock are of one stack.

    `locked` holds the locked versions by package; `driver` is this host's.
    """
    strangers = _strangers(diagnosis, locked, driver, packages)
    family = diagnosis.family
    fitting = [finding for finding in findings if finding.code in family.findings]
    at_fault = packages.logged_as(family.library) if family.library else ()
    if at_fault and family.library != "torch":
        # Code for a card can be missing in any library; other faults sit in the one they name.
        fitting = [finding for finding in fitting if finding.package in at_fault]
    note = f" But {'; '.join(strangers)}: is this the log of another environment?" * bool(strangers)
    if not family.findings:
        return StackMatch(agrees=None, sentence=f"No rule judges faults of this kind.{note}")
    if fitting:
        codes = tuple(dict.fromkeys(finding.code for finding in fitting))
        return StackMatch(
            agrees=not strangers,
            sentence=f"The lock shows the same fault ({', '.join(codes)}): {PLAN}.{note}",
            codes=codes,
            findings=tuple(dict.fromkeys(f"{f.code} {f.message}" for f in fitting))[:4],
        )
    others = tuple(dict.fromkeys(f.code for f in findings))
    rest = f" (it finds {', '.join(others)})" if others else ""
    return StackMatch(
        agrees=False,
        sentence=(
            f"The rules find nothing of this kind in the lock{rest}: the log may come from another"
            f" environment or card, or a library outside the lock was loaded.{note}"
        ),
    )


def _strangers(
    diagnosis: Diagnosis,
    locked: Mapping[str, Sequence[str]],
    driver: str | None,
    packages: PackageTable,
) -> list[str]:
    """Components whose version in the log is none of the lock's."""
    found = []
    for component, logged in diagnosis.versions.items():
        names = packages.logged_as(component)
        known = [version for name in names for version in locked.get(name, ())]
        if known and not any(_same(logged, version) for version in known):
            found.append(f"the log shows {component} {logged}, the lock {', '.join(known)}")
    seen = diagnosis.versions.get("driver")
    if seen and driver and seen != driver:
        found.append(f"the log shows driver {seen}, this host has {driver}")
    return found


def _same(logged: str, locked: str) -> bool:
    """Whether a version printed at run time is the locked one; it may print fewer numbers."""
    try:
        one, other = Version(logged).release, Version(locked).release
    except InvalidVersion:
        return True
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
