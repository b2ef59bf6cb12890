"""Tying an answer to the project's own stack: where rules and log agree, and where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from stackfix.diagnose.diagnosis import Diagnosis, StackMatch

if TYPE_CHECKING:
    from stackfix.model.finding import Finding

__all__ = ["PLAN", "tie"]

PLAN = "stackfix plan"

_PACKAGES = {
    "cudnn": ("nvidia-cudnn-cu12", "nvidia-cudnn-cu13"),
    "nccl": ("nvidia-nccl-cu12", "nvidia-nccl-cu13"),
    "torch": ("torch",),
    "triton": ("triton",),
    "jax": ("jax", "jaxlib"),
}
"""Component of a log -> packages of a lock that it can be."""


def tie(
    diagnosis: Diagnosis,
    findings: Sequence[Finding],
    locked: Mapping[str, Sequence[str]],
    driver: str | None,
) -> StackMatch:
    """What the rules say of this family in this lock, and whether log and lock are of one stack.

    `locked` holds the locked versions by package; `driver` is this host's.
    """
    strangers = _strangers(diagnosis, locked, driver)
    family = diagnosis.family
    fitting = [finding for finding in findings if finding.code in family.findings]
    if family.library in _PACKAGES and family.library != "torch":
        # Code for a card can be missing in any library; other faults sit in the one they name.
        fitting = [f for f in fitting if f.package in _PACKAGES[family.library]]
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
    diagnosis: Diagnosis, locked: Mapping[str, Sequence[str]], driver: str | None
) -> list[str]:
    """Components whose version in the log is none of the lock's."""
    found = []
    for component, packages in _PACKAGES.items():
        logged = diagnosis.versions.get(component)
        known = [version for package in packages for version in locked.get(package, ())]
        if logged and known and not any(_same(logged, version) for version in known):
            found.append(f"the log shows {component} {logged}, the lock {', '.join(known)}")
    logged = diagnosis.versions.get("driver")
    if logged and driver and logged != driver:
        found.append(f"the log shows driver {logged}, this host has {driver}")
    return found


def _same(logged: str, locked: str) -> bool:
    """Whether a version printed at run time is the locked one; it may print fewer numbers."""
    try:
        one, other = Version(logged).release, Version(locked).release
    except InvalidVersion:
        return True
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
