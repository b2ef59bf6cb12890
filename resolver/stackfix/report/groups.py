"""Findings gathered the way a person asks: what is wrong with this package?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stackfix.model.finding import Finding, Severity
    from stackfix_knowledge.evidence import Evidence

__all__ = ["Fault", "Group", "alike", "group"]

_WORST_FIRST = ("error", "warning", "info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong with a package, on all targets where it is."""

    code: str
    severity: Severity
    message: str
    """Without the package's name and version where it began with them."""
    targets: tuple[str, ...]
    """Short names; empty: holds on every target."""
    evidence: tuple[Evidence, ...]
    fix: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """All that is wrong with one package at one version, the worst first."""

    package: str
    version: str
    faults: tuple[Fault, ...]

    @property
    def severity(self) -> Severity:
        """That of the worst fault."""
        return self.faults[0].severity

    @property
    def title(self) -> str:
        """The package and its version, "torch 2.7.1"."""
        return f"{self.package} {self.version}".strip()


def group(findings: Iterable[Finding], every_target: Sequence[str]) -> tuple[Group, ...]:
    """Groups, worst first; `every_target` holds the short names of all targets of the run."""
    by_package: dict[tuple[str, str], dict[tuple[str, str, str], list[Finding]]] = {}
    for finding in findings:
        package = by_package.setdefault((finding.package, finding.version), {})
        message = _without_title(finding)
        package.setdefault((finding.code, finding.severity, message), []).append(finding)
    groups = [
        Group(
            package=package,
            version=version,
            faults=tuple(
                sorted(
                    (
                        _fault(message, same, every_target)
                        for (_, _, message), same in found.items()
                    ),
                    key=lambda fault: _WORST_FIRST.index(fault.severity),
                )
            ),
        )
        for (package, version), found in by_package.items()
    ]
    return tuple(sorted(groups, key=lambda one: _WORST_FIRST.index(one.severity)))


def alike(groups: Iterable[Group]) -> tuple[tuple[Group, ...], ...]:
    """Groups that say the same in one sentence, put together at the place of the first."""
    found: dict[object, list[Group]] = {}
    for one in groups:
        key: object = one
        if len(one.faults) == 1:
            fault = one.faults[0]
            kinds = tuple(sorted({evidence.kind for evidence in fault.evidence}))
            key = (fault.code, fault.severity, fault.message, fault.targets, fault.fix, kinds)
        found.setdefault(key, []).append(one)
    return tuple(tuple(same) for same in found.values())


def _fault(message: str, same: Sequence[Finding], every_target: Sequence[str]) -> Fault:
    first = same[0]
    names = dict.fromkeys(finding.target.short for finding in same if finding.target)
    return Fault(
        code=first.code,
        severity=first.severity,
        message=message,
        targets=() if set(names) >= set(every_target) else tuple(names),
        evidence=tuple(dict.fromkeys(one for finding in same for one in finding.evidence)),
        fix=first.fix,
    )


def _without_title(finding: Finding) -> str:
    """The message after "torch 2.7.1", which the group says already."""
    title = f"{finding.package} {finding.version}"
    rest = finding.message.removeprefix(title)
    if rest == finding.message or rest[:1] not in (" ", ":"):
        return finding.message
    return rest.lstrip(": ")
