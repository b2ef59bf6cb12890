"""An answer beside the project's stack and this host: where they agree with it, and where not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from stackfix.diagnose.diagnosis import Diagnosis, StackMatch
from stackfix.host.health import fabric_trouble, hardware_xids, xid_in_words
from stackfix.host.host import Host
from stackfix_knowledge.logs.xids import XidKind, xid_of

if TYPE_CHECKING:
    from stackfix.model.finding import Finding
    from stackfix_knowledge.stack.packages import PackageTable
    from stackfix_lockfiles.lock import Lock

__all__ = ["compare_with_stack", "host_evidence", "stack_match"]

_MOST_SENTENCES = 4
_SMALL_SHM = 1 << 30


def stack_match(
    diagnosis: Diagnosis,
    findings: Sequence[Finding],
    lock: Lock,
    host: Host,
    packages: PackageTable,
) -> StackMatch:
    """The answer beside what the rules find in the project's lock, and what this host shows."""
    locked: dict[str, list[str]] = {}
    for package in lock.packages:
        if package.version is not None:
            locked.setdefault(package.name, []).append(package.version)
    match = compare_with_stack(diagnosis, findings, locked, host.driver, packages)
    return replace(match, host=host_evidence(diagnosis, host))


def compare_with_stack(
    diagnosis: Diagnosis,
    findings: Sequence[Finding],
    locked: Mapping[str, Sequence[str]],
    driver: str | None,
    packages: PackageTable,
) -> StackMatch:
    """What the rules say of this family in this lock, and whether log and lock are of one stack.

    `locked` holds the locked versions by package; `driver` is this host's.
    """
    differing = _differing(diagnosis, locked, driver, packages)
    family = diagnosis.family
    same_fault = [finding for finding in findings if finding.code in family.findings]
    at_fault = packages.logged_as(family.library) if family.library else ()
    if at_fault and family.library != "torch":
        # Code for a card can be missing in any library; other faults sit in the one they name.
        same_fault = [finding for finding in same_fault if finding.package in at_fault]
    note = f" But {'; '.join(differing)}: is this the log of another environment?" * bool(differing)
    if not family.findings:
        return StackMatch(agrees=None, sentence=f"No rule judges faults of this kind.{note}")
    if same_fault:
        codes = tuple(dict.fromkeys(finding.code for finding in same_fault))
        return StackMatch(
            agrees=not differing,
            sentence=f"The lock shows the same fault ({', '.join(codes)}): stackfix plan.{note}",
            codes=codes,
            findings=tuple(dict.fromkeys(f"{f.code} {f.message}" for f in same_fault))[:4],
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


def _differing(
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
        if known and not any(_same_version(logged, version) for version in known):
            found.append(f"the log shows {component} {logged}, the lock {', '.join(known)}")
    seen = diagnosis.versions.get("driver")
    if seen and driver and seen != driver:
        found.append(f"the log shows driver {seen}, this host has {driver}")
    return found


def _same_version(logged: str, locked: str) -> bool:
    """Whether a version printed at run time is the locked one; it may print fewer numbers."""
    try:
        one, other = Version(logged).release, Version(locked).release
    except InvalidVersion:
        return True
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def host_evidence(diagnosis: Diagnosis, host: Host) -> tuple[str, ...]:
    """A sentence each; empty where the host shows nothing that bears on it."""
    return tuple(_host_sentences(diagnosis.family.name, host))[:_MOST_SENTENCES]


def _host_sentences(family: str, host: Host) -> Iterator[str]:
    for _, words in hardware_xids(host):
        yield f"This host's kernel log has {words}"
    if family == "kernel_memory_fault" and host.kernel_log is not None:
        for report in host.kernel_log.reports:
            xid = None if report.switch else xid_of(report.number)
            if xid is not None and xid.kind is XidKind.PROGRAM:
                yield f"This host's kernel log has {xid_in_words(report)}"
    if family == "driver_802_not_ready" and (trouble := fabric_trouble(host)):
        yield f"On this host {trouble.text}."
    shm = host.system.shm
    if family == "shm_exhausted" and shm is not None and shm < _SMALL_SHM:
        yield f"On this host /dev/shm has {shm >> 20} MiB."
