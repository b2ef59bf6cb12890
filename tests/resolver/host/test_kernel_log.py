"""Xids in the kernel's log."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from stackfix.host.host import KernelLog, XidReport
from stackfix.host.kernel_log import read_kernel_log
from tests.resolver.host.test_devices import write

FALLEN = (
    "NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
)
FAULT = "NVRM: Xid (PCI:0000:3B:00): 31, pid=77, name=python, Ch 00000008, MMU Fault"
SWITCH = "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"
CARDS = {0: "0000:3b:00.0", 1: "0000:65:00.0"}


def kmsg(*lines: tuple[float, str]) -> str:
    """Records of /dev/kmsg, each with the one that follows it as a continuation has."""
    return "".join(
        f"4,{number},{int(seconds * 1e6)},-;{text}\n SUBSYSTEM=pci\n"
        for number, (seconds, text) in enumerate(lines)
    )


def test_reports_are_counted_by_card_and_number(tmp_path: Path) -> None:
    write(tmp_path / "proc/uptime", "1000.50 3000.00\n")
    lines = ((10, "Linux version 6.8.0"), (100, FAULT), (200, FALLEN), (300, FAULT), (400, SWITCH))
    write(tmp_path / "dev/kmsg", kmsg(*lines))
    assert read_kernel_log(tmp_path, CARDS) == KernelLog(
        source="/dev/kmsg",
        reports=(
            XidReport(
                number=31,
                pci="0000:3b:00",
                card=0,
                count=2,
                text="pid=77, name=python, Ch 00000008, MMU Fault",
                ago=700,
            ),
            XidReport(
                number=79,
                pci="0000:65:00",
                card=1,
                text="pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
                ago=800,
            ),
            XidReport(
                number=20034,
                pci="0000:c1:00.0",
                switch=True,
                text="Fatal, Link 30 LTSSM Fault Up",
                ago=600,
            ),
        ),
    )


def test_a_card_that_is_gone_has_no_index(tmp_path: Path) -> None:
    write(tmp_path / "dev/kmsg", kmsg((1, FALLEN)))
    (report,) = read_kernel_log(tmp_path, {0: "0000:3b:00.0"}).reports
    assert (report.pci, report.card, report.ago) == ("0000:65:00", None, None)


@pytest.mark.parametrize("name", ["kern.log", "messages", "syslog", "dmesg"])
def test_without_the_device_a_log_file_is_read(tmp_path: Path, name: str) -> None:
    write(tmp_path / "proc/uptime", "100.0 1.0\n")
    line = f"Nov 30 10:00:00 node7 kernel: [   91.250000] {FAULT}\n"
    write(tmp_path / "var/log" / name, line + "2026-11-30T10:00:01+00:00 node7 kernel: " + FAULT)
    log = read_kernel_log(tmp_path, CARDS)
    assert log.source == f"/var/log/{name}"
    assert [(report.number, report.count) for report in log.reports] == [(31, 2)]


def test_what_was_before_the_last_start_is_over(tmp_path: Path) -> None:
    write(
        tmp_path / "var/log/kern.log",
        f"{FALLEN}\nNov 30 kernel: [    0.000000] Linux version 6.8.0-45-generic (gcc)\n{FAULT}\n",
    )
    assert [report.number for report in read_kernel_log(tmp_path).reports] == [31]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_log_that_may_not_be_read_needs_root(tmp_path: Path) -> None:
    write(tmp_path / "dev/kmsg", kmsg((1, FALLEN)))
    (tmp_path / "dev/kmsg").chmod(0)
    assert read_kernel_log(tmp_path).unread == "not readable (needs root)"


def test_a_refusal_by_the_kernel_needs_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As dmesg_restrict has it: the device opens and every read is refused."""
    write(tmp_path / "dev/kmsg", kmsg((1, FALLEN)))

    def refused(number: int, size: int) -> bytes:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "read", refused)
    assert read_kernel_log(tmp_path) == KernelLog(source=None, unread="not readable (needs root)")


def test_no_log_is_said(tmp_path: Path) -> None:
    assert read_kernel_log(tmp_path) == KernelLog(source=None, unread="there is none")


def test_a_device_at_its_end_is_not_waited_for(tmp_path: Path) -> None:
    """Like /dev/kmsg, a pipe that somebody holds open gives nothing more for now."""
    (tmp_path / "dev").mkdir()
    os.mkfifo(tmp_path / "dev/kmsg")
    keeper = os.open(tmp_path / "dev/kmsg", os.O_RDWR)
    try:
        os.write(keeper, kmsg((1, FAULT)).encode())
        begun = time.monotonic()
        (report,) = read_kernel_log(tmp_path).reports
        assert report.number == 31
        assert time.monotonic() - begun < 30
    finally:
        os.close(keeper)


def test_this_machines_own_log_is_read_or_said_not_to_be() -> None:
    begun = time.process_time()
    log = read_kernel_log()
    assert (log.source is None) == (log.unread is not None)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 20_000,
        b"4,1," + b"9" * 4000 + b",-;" + FAULT.encode(),
        b"NVRM: Xid (" + b"0" * 9000 + b"): 79",
        b"4,1,1,-;NVRM: Xid (PCI:0000:65:00): 7" + b"9" * 500 + b", x",
    ],
)
def test_a_hostile_log_costs_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/kmsg").write_bytes(data)
    assert all(report.number == 31 for report in read_kernel_log(tmp_path).reports)


def test_the_words_of_a_report_are_short_and_printable(tmp_path: Path) -> None:
    write(tmp_path / "dev/kmsg", kmsg((1, f"{FAULT}\x1b[2J{'x' * 5000}")))
    (report,) = read_kernel_log(tmp_path).reports
    assert report.text.isprintable()
    assert len(report.text) <= 300


def test_many_different_reports_are_bounded(tmp_path: Path) -> None:
    lines = ((1.0, f"NVRM: Xid (PCI:0000:65:00): {number}, x") for number in range(1, 2000))
    write(tmp_path / "dev/kmsg", kmsg(*lines))
    assert len(read_kernel_log(tmp_path).reports) == 256


def test_a_log_of_many_gigabytes_is_read_from_near_its_end(tmp_path: Path) -> None:
    path = tmp_path / "var/log/kern.log"
    write(path, f"{FALLEN}\n")
    with path.open("r+b") as file:
        file.seek(1 << 35)
        file.write(f"\n{FAULT}\n".encode())
    begun = time.process_time()
    assert [report.number for report in read_kernel_log(tmp_path).reports] == [31]
    assert time.process_time() - begun < 10
