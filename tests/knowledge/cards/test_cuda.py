"""CUDA, drivers and capabilities: the values that verdicts rest on."""

from __future__ import annotations

import pytest
from packaging.version import Version

from stackfix_knowledge.cards.cuda import CudaTable
from stackfix_knowledge.hardware import ComputeCapability, DriverVersion


@pytest.fixture(scope="module")
def cuda() -> CudaTable:
    return CudaTable.load()


def capability(text: str) -> ComputeCapability:
    return ComputeCapability.parse(text)


@pytest.mark.parametrize(
    ("major", "driver"), [(11, "450.80.02"), (12, "525.60.13"), (13, "580.65.06")]
)
def test_each_cuda_major_has_a_minimum_driver(cuda: CudaTable, major: int, driver: str) -> None:
    known = cuda.minimum_driver(major)
    assert known is not None
    assert known.value == DriverVersion(driver)
    assert known.evidence


def test_windows_has_its_own_minimum(cuda: CudaTable) -> None:
    known = cuda.minimum_driver(12, "win_amd64")
    assert known is not None
    assert known.value == DriverVersion("527.41")


def test_an_unknown_major_has_no_minimum(cuda: CudaTable) -> None:
    assert cuda.minimum_driver(14) is None


@pytest.mark.parametrize(
    ("toolkit", "driver"),
    [
        ("12.8", "570.26"),
        ("12.8.1", "570.26"),
        ("12.8.93", "570.26"),
        ("12.6", "560.28.03"),
        ("13.0", "580.65.06"),
        ("13.1", "590.44.01"),
    ],
)
def test_ptx_needs_the_driver_of_its_toolkits_minor(
    cuda: CudaTable, toolkit: str, driver: str
) -> None:
    known = cuda.toolkit_driver(Version(toolkit))
    assert known is not None
    assert known.value == DriverVersion(driver)


def test_a_toolkit_without_documented_driver_is_unknown(cuda: CudaTable) -> None:
    assert cuda.toolkit_driver(Version("13.5")) is None


@pytest.mark.parametrize(
    ("card", "branch"),
    [("12.0", 570), ("10.0", 570), ("10.3", 575), ("9.0", 520), ("8.9", 520), ("11.0", 580)],
)
def test_each_card_has_its_first_driver(cuda: CudaTable, card: str, branch: int) -> None:
    known = cuda.first_driver(capability(card))
    assert known is not None
    assert known.value.branch == branch


def test_thor_is_found_under_both_its_names(cuda: CudaTable) -> None:
    assert cuda.first_driver(capability("10.1")) == cuda.first_driver(capability("11.0"))


@pytest.mark.parametrize("card", ["5.0", "5.2", "6.0", "6.1", "7.0"])
def test_cards_below_turing_end_with_branch_580_and_cuda_12(cuda: CudaTable, card: str) -> None:
    branch, dropped = cuda.last_branch(capability(card)), cuda.dropped(capability(card))
    assert branch is not None
    assert branch.value == 580
    assert dropped is not None
    assert dropped.value == 13


@pytest.mark.parametrize("card", ["7.5", "8.0", "9.0", "12.0"])
def test_cards_from_turing_on_go_on(cuda: CudaTable, card: str) -> None:
    assert cuda.last_branch(capability(card)) is None
    assert cuda.dropped(capability(card)) is None


def test_no_driver_is_advised_that_dropped_the_card(cuda: CudaTable) -> None:
    """A V100 can have 580, never 590."""
    volta = capability("7.0")
    assert cuda.advised_driver(volta, DriverVersion("590.44.01")) is None
    advised = cuda.advised_driver(volta, DriverVersion("580.65.06"))
    assert advised is not None
    assert advised.value == DriverVersion("580.65.06")


def test_the_advised_driver_knows_the_card(cuda: CudaTable) -> None:
    """CUDA 12 alone would allow 525 on an RTX 5090."""
    advised = cuda.advised_driver(capability("12.0"), DriverVersion("525.60.13"))
    assert advised is not None
    assert advised.value == DriverVersion("570.26")


def test_nothing_is_advised_for_an_unknown_card(cuda: CudaTable) -> None:
    assert cuda.advised_driver(capability("3.7"), DriverVersion("525.60.13")) is None


def test_toolkits_and_their_drivers_rise_together(cuda: CudaTable) -> None:
    drivers = [toolkit.linux for toolkit in cuda.toolkits if toolkit.linux is not None]
    assert drivers == sorted(drivers)


def test_a_card_is_not_older_than_its_first_toolkit(cuda: CudaTable) -> None:
    for span in cuda.spans.values():
        if span.first_cuda is not None and span.first_driver is not None:
            driver = cuda.toolkit_driver(span.first_cuda)
            assert driver is not None
            assert span.first_driver == driver.value, span.capability


def test_newer_ptx_languages_belong_to_newer_toolkits(cuda: CudaTable) -> None:
    first = [language.toolkits[0] for language in cuda.languages]
    assert [language.language for language in cuda.languages] == sorted(
        {language.language for language in cuda.languages}
    )
    assert first == sorted(set(first))


@pytest.mark.parametrize(("own", "told"), [("12.6", "12.5"), ("12.5.1", "12.5"), ("12.8", "12.8")])
def test_toolkits_that_write_the_same_ptx_are_not_told_apart(
    cuda: CudaTable, own: str, told: str
) -> None:
    assert cuda.as_measured(Version(own)) == Version(told)


@pytest.mark.parametrize(
    ("card", "toolkit"),
    [("8.0", None), ("9.0", "11.8"), ("10.1", "12.8"), ("11.0", "13.0"), ("12.0", "12.8")],
)
def test_code_for_a_card_dates_its_toolkit(cuda: CudaTable, card: str, toolkit: str | None) -> None:
    found = cuda.first_building(capability(card))
    assert found == (Version(toolkit) if toolkit else None)


@pytest.mark.parametrize(("major", "card"), [(11, "3.5"), (12, "5.0"), (13, "7.5")])
def test_each_major_has_an_oldest_card(cuda: CudaTable, major: int, card: str) -> None:
    assert cuda.oldest_card(major) == capability(card)


def test_the_majors_are_those_with_a_minimum_driver(cuda: CudaTable) -> None:
    assert cuda.majors == (11, 12, 13)
