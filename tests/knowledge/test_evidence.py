"""Every fact can say in one line where it comes from."""

from hypothesis import given
from hypothesis import strategies as st

from stackfix_knowledge.evidence import Evidence, EvidenceKind

WHEEL = "torch-2.8.0-cp311-cp311-manylinux_2_28_x86_64.whl"


def test_a_measurement_names_wheel_date_and_digest() -> None:
    evidence = Evidence(
        kind=EvidenceKind.MEASURED, source=WHEEL, date="2026-11-30", sha256="0123456789abcdef"
    )
    assert evidence.describe() == f"measured in {WHEEL} (2026-11-30, sha256 0123456789ab…)"


def test_a_document_is_quoted() -> None:
    evidence = Evidence(
        kind=EvidenceKind.DOCUMENTED, source="cuDNN 9.5.1 support matrix", words="up to\n  9.0"
    )
    assert evidence.describe() == "documented by cuDNN 9.5.1 support matrix: “up to 9.0”"


def test_a_report_says_whether_it_was_confirmed() -> None:
    assert (
        Evidence(kind=EvidenceKind.REPORTED, source="issue 12")
        .describe()
        .endswith("(not confirmed)")
    )
    assert Evidence(kind=EvidenceKind.REPORTED, source="issue 12", confirmed=True).describe() == (
        "reported in issue 12 (confirmed)"
    )


@given(kind=st.sampled_from(EvidenceKind), words=st.text())
def test_the_line_is_one_line(kind: EvidenceKind, words: str) -> None:
    evidence = Evidence(kind=kind, source=WHEEL, words=words)
    assert len(evidence.describe().splitlines()) == 1
