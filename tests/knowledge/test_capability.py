"""Compute capabilities are read strictly and ordered by number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix_knowledge.hardware import ComputeCapability

capabilities = st.builds(ComputeCapability, st.integers(1, 99), st.integers(0, 9))


@pytest.mark.parametrize(
    ("text", "major", "minor"), [("12.0", 12, 0), ("8.9", 8, 9), ("sm_120", 12, 0), ("sm_75", 7, 5)]
)
def test_both_spellings_are_read(text: str, major: int, minor: int) -> None:
    assert ComputeCapability.parse(text) == ComputeCapability(major, minor)


@pytest.mark.parametrize(
    "text", ["120", "12", "12.", "12.01", "sm_90a", "compute_90", "", "8,9", "-8.9"]
)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r'expected one like "8.9" or "sm_89"'):
        ComputeCapability.parse(text)


@given(capabilities)
def test_what_is_written_is_read_again(card: ComputeCapability) -> None:
    assert ComputeCapability.parse(str(card)) == card
    assert ComputeCapability.parse(card.sm) == card


@given(capabilities, capabilities)
def test_order_is_by_number_not_by_text(one: ComputeCapability, other: ComputeCapability) -> None:
    assert (one < other) == ((one.major, one.minor) < (other.major, other.minor))


def test_twelve_is_newer_than_nine() -> None:
    assert ComputeCapability.parse("12.0") > ComputeCapability.parse("9.0")


def test_10_1_and_11_0_are_one_device() -> None:
    assert ComputeCapability(10, 1).device == ComputeCapability(11, 0)
    assert ComputeCapability(10, 0).device == ComputeCapability(10, 0)
