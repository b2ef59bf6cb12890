"""What the driver's Xids mean, and that the log signatures agree."""

from __future__ import annotations

import pytest

from stackfix_knowledge.evidence import FactSeverity
from stackfix_knowledge.logs.signatures import LineRole, signature_table
from stackfix_knowledge.logs.xids import XidKind, parse_xids, xid_in, xid_of, xids
from stackfix_knowledge.reader import Entry, FactsError

_SEEN = range(1, 200)


@pytest.mark.parametrize(
    ("number", "kind", "severity"),
    [
        (13, XidKind.PROGRAM, FactSeverity.INFO),
        (31, XidKind.PROGRAM, FactSeverity.INFO),
        (48, XidKind.MEMORY, FactSeverity.ERROR),
        (63, XidKind.MEMORY, FactSeverity.INFO),  # a remapping that succeeded
        (64, XidKind.MEMORY, FactSeverity.ERROR),
        (74, XidKind.LINK, FactSeverity.ERROR),
        (79, XidKind.BUS, FactSeverity.ERROR),
        (94, XidKind.MEMORY, FactSeverity.WARNING),  # contained: one program
        (95, XidKind.MEMORY, FactSeverity.ERROR),
        (119, XidKind.FIRMWARE, FactSeverity.ERROR),
        (149, XidKind.LINK, FactSeverity.ERROR),
    ],
)
def test_what_the_catalog_says(number: int, kind: XidKind, severity: FactSeverity) -> None:
    xid = xid_of(number)
    assert xid is not None
    assert (xid.kind, xid.severity) == (kind, severity)
    assert xid.evidence


def test_a_number_that_nobody_documented_is_unknown() -> None:
    assert xid_of(15) is None
    assert xid_of(9999) is None


def test_a_card_that_has_to_be_reset_is_an_error_unless_that_can_wait() -> None:
    for number, xid in xids().items():
        if xid.bucket in ("RESET_GPU", "RESTART_BM", "WORKFLOW_XID_48", "WORKFLOW_NVLINK_ERR"):
            assert xid.severity is FactSeverity.ERROR or number == 156, number
        if xid.bucket == "IGNORE":
            assert xid.severity is not FactSeverity.ERROR, number


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', GPU has fallen off the bus.", 79),
        ("[ 91.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=77, name=python, MMU Fault", 31),
        ("NVRM: Xid (0000:01:00): 13, 0005 00000000", 13),  # drivers of before 2013
        ("nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 20034, Fatal", None),
        ("watch for Xid 79", None),
    ],
)
def test_the_number_of_a_line(line: str, number: int | None) -> None:
    assert xid_in(line) == number


def _families(number: int) -> set[str | None]:
    line = f"NVRM: Xid (PCI:0000:65:00): {number}, pid=1, name=python, x"
    return {
        signature.family
        for signature in signature_table().signatures
        if signature.role is LineRole.CAUSE
        and any(anchor in line for anchor in signature.anchors)
        and signature.match(line)
    }


@pytest.mark.parametrize("number", _SEEN)
def test_a_log_signature_blames_the_card_for_no_more_than_the_catalog_does(number: int) -> None:
    xid = xid_of(number)
    found = _families(number)
    if xid is None or xid.severity is FactSeverity.INFO or xid.kind is XidKind.NOTICE:
        assert "gpu_hardware_fault" not in found
    elif xid.severity is FactSeverity.ERROR:
        assert "gpu_hardware_fault" in found


_ENTRY = {
    "numbers": [1],
    "name": "x",
    "kind": "bus",
    "severity": "error",
    "meaning": "x",
    "action": "x",
    "source": "s",
}
_SOURCES = {"s": {"kind": "documented", "where": "x", "date": "2026-11-30"}}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"numbers": []}, r"xid\[0\]\.numbers: expected a list of whole numbers"),
        ({"numbers": ["1"]}, r"xid\[0\]\.numbers: expected a list of whole numbers"),
        ({"numbers": [True]}, r"xid\[0\]\.numbers: expected a list of whole numbers"),
        ({"numbers": [1, 1]}, r"xid\[0\]\.numbers: expected numbers that stand once"),
        ({"kind": "ghost"}, r"xid\[0\]\.kind: expected one of program"),
        ({"severity": "bad"}, r"xid\[0\]\.severity: expected one of error"),
        ({"source": "t"}, r"xid\[0\]\.source: expected"),
    ],
)
def test_a_fault_of_the_file_is_named(change: dict[str, object], expected: str) -> None:
    file = Entry({"sources": _SOURCES, "xid": [{**_ENTRY, **change}]}, "xids.toml")
    with pytest.raises(FactsError, match=expected):
        parse_xids(file)
