"""What this host shows that bears on an answer: the log may well come from it."""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.diagnose.diagnosis import Diagnosis
from stackfix.host.health import fabric_trouble, hardware_xids, xid_in_words
from stackfix.host.host import Host
from stackfix_knowledge.logs.xids import XidKind, xid_of

__all__ = ["bearing"]

_MOST = 4
_SMALL_SHM = 1 << 30


def bearing(diagnosis: Diagnosis, host: Host) -> tuple[str, ...]:
    """A sentence each; empty where the host shows nothing that bears on it."""
    return tuple(_found(diagnosis.family.name, host))[:_MOST]


def _found(family: str, host: Host) -> Iterator[str]:
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
