"""What the driver told the kernel's log about cards: Xids, and SXids of their switches.

Sources: /dev/kmsg (Documentation/ABI/testing/dev-kmsg of Linux), else a log file that may be read.
The systemd journal is not read: it has no file format for others.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from stackfix.host.host import KernelLog, XidReport

__all__ = ["read_kernel_log"]

_FILES = ("var/log/kern.log", "var/log/messages", "var/log/syslog", "var/log/dmesg")
_MOST_BYTES = 32 << 20
"""Of a log; the kernel's own buffer is seldom above 16 MiB."""
_MOST_SECONDS = 3.0
_MOST_REPORTS = 256
"""Different ones; a broken card repeats the same few."""
_LONGEST = 300
_RECORD = 8192
"""Longest record of /dev/kmsg; a shorter buffer is an error."""
_REPORT = re.compile(
    r"(?:NVRM: (?P<xid>Xid)|nvidia-nvswitch\d{0,4}: SXid)"
    r" \((?:PCI:)?(?P<pci>[0-9a-fA-F:.]{5,16})\): (?P<number>\d{1,6})\b,?\s*(?P<text>.*)"
)
_BOOT = re.compile(r"\bLinux version \d")
_SECONDS = re.compile(r"\[\s*(\d{1,12}\.\d{1,9})\] ")


def read_kernel_log(root: Path = Path("/"), cards: Mapping[int, str] | None = None) -> KernelLog:
    """The reports in the kernel's log; `cards` has the PCI address of each card by its index."""
    refused = False
    for name, lines in (("dev/kmsg", _records), *((name, _tail) for name in _FILES)):
        path = root / name
        try:
            found = _reports(lines(path), _uptime(root))
        except PermissionError:
            refused = True
            continue
        except (OSError, ValueError):
            continue
        reports = tuple(_placed(report, cards or {}) for report in found)
        return KernelLog(source=f"/{name}", reports=reports)
    unread = "not readable (needs root)" if refused else "there is none"
    return KernelLog(source=None, unread=unread)


def _reports(lines: Iterator[tuple[float | None, str]], now: float | None) -> list[XidReport]:
    found: dict[tuple[bool, int, str], XidReport] = {}
    for seconds, line in lines:
        if _BOOT.search(line):
            found.clear()
        match = _REPORT.search(line)
        if match is None:
            continue
        switch, number, pci = match["xid"] is None, int(match["number"]), match["pci"].lower()
        key = (switch, number, pci)
        ago = max(0, int(now - seconds)) if now is not None and seconds is not None else None
        if key in found:
            found[key] = replace(found[key], count=found[key].count + 1, ago=ago)
        elif len(found) < _MOST_REPORTS:
            text = "".join(c for c in match["text"][:_LONGEST] if c.isprintable()).strip()
            found[key] = XidReport(number=number, pci=pci, switch=switch, text=text, ago=ago)
    return list(found.values())


def _placed(report: XidReport, cards: Mapping[int, str]) -> XidReport:
    if report.switch:
        return report
    # The driver writes no function: "0000:65:00" is the card at 0000:65:00.0.
    at = report.pci.partition(".")[0]
    place = next((index for index, pci in cards.items() if pci.lower().startswith(at)), None)
    return replace(report, card=place)


def _records(path: Path) -> Iterator[tuple[float | None, str]]:
    """The records of /dev/kmsg: "priority,number,microseconds,flags;text", one a read."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        rest, size, begun = "", 0, time.monotonic()
        while size < _MOST_BYTES and time.monotonic() - begun < _MOST_SECONDS:
            try:
                data = os.read(number, _RECORD)
            except BlockingIOError:  # the end, for now
                break
            except OSError as error:
                if error.errno != errno.EPIPE:  # this record was overwritten meanwhile
                    raise
                continue
            if not data:
                break
            size += len(data)
            *lines, rest = (rest + data.decode("utf-8", "replace")).split("\n")
            yield from map(_record, lines)
        if rest:
            yield _record(rest)
    finally:
        os.close(number)


def _record(line: str) -> tuple[float | None, str]:
    head, _, text = line.partition(";")
    fields = head.split(",")
    known = len(fields) > 2 and fields[2].isdecimal() and len(fields[2]) < 20
    return (int(fields[2]) / 1e6 if known else None), text


def _tail(path: Path) -> Iterator[tuple[float | None, str]]:
    """The lines at the end of a log file, with the kernel's own time where they have it."""
    with path.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _MOST_BYTES))
        for line in file.read(_MOST_BYTES).decode("utf-8", "replace").split("\n"):
            seconds = _SECONDS.search(line)
            yield (float(seconds[1]) if seconds else None), line


def _uptime(root: Path) -> float | None:
    try:
        return float((root / "proc/uptime").read_text("ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return None
