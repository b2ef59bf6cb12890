"""Driver versions keep their text and compare by number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix_knowledge.hardware import DriverVersion

numbers = st.lists(st.integers(0, 999), min_size=1, max_size=3)


def test_the_text_is_kept_with_its_zeros() -> None:
    assert str(DriverVersion("570.133.07")) == "570.133.07"


def test_leading_zeros_do_not_count() -> None:
    assert DriverVersion("570.133.07") == DriverVersion("570.133.7")
    assert hash(DriverVersion("570.133.07")) == hash(DriverVersion("570.133.7"))


def test_a_bare_branch_is_its_lowest_version() -> None:
    assert DriverVersion("570") == DriverVersion("570.0")
    assert DriverVersion("570") < DriverVersion("570.26")


def test_numbers_decide_not_letters() -> None:
    assert DriverVersion("570.9") < DriverVersion("570.10")
    assert DriverVersion("1000.1") > DriverVersion("580.65.06")


def test_branch_is_the_first_number() -> None:
    assert DriverVersion("570.133.07").branch == 570


def test_blanks_around_it_are_allowed_when_parsed() -> None:
    assert DriverVersion.parse(" 580.65.06\n") == DriverVersion("580.65.06")


@pytest.mark.parametrize(
    "text", ["", "615 (branch)", "v570", "570.", "570..1", "5" * 5, "1.2.3.4.5"]
)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r'expected one like "570.133.07" or "570"'):
        DriverVersion.parse(text)


def test_it_equals_no_plain_text() -> None:
    assert DriverVersion("570") != "570"


@given(numbers, numbers)
def test_order_is_that_of_the_padded_numbers(one: list[int], other: list[int]) -> None:
    left, right = (DriverVersion(".".join(map(str, parts))) for parts in (one, other))
    padded = [parts + [0] * (3 - len(parts)) for parts in (one, other)]
    assert (left < right) == (padded[0] < padded[1])
    assert (left == right) == (padded[0] == padded[1])
