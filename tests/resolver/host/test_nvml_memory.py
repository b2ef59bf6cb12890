"""Errors of a card's memory and what became of it, as the real nvidia-ml-py reads them."""

from __future__ import annotations

from pathlib import Path

from stackfix.host.host import Card, MemoryRepairs, RepairUnit
from stackfix.host.nvml import ask
from tests.resolver.host.stub import A100, RTX_5090, V100, build_stub, stub_env


def card(stub: Path, made: str, **settings: str) -> Card:
    answer = ask(env=stub_env(stub, made, **settings))
    assert answer.notes == ()
    return answer.cards[0]


def test_memory_errors_are_counted_where_the_card_corrects_them(nvml_stub: Path) -> None:
    found = card(nvml_stub, V100(1), STUB_ECC="3", STUB_CORRECTED="7")
    assert (found.ecc, found.ecc_errors, found.ecc_corrected) == (True, 3, 7)


def test_a_card_that_does_not_correct_them_counts_none(nvml_stub: Path) -> None:
    found = card(nvml_stub, RTX_5090(1))
    assert (found.ecc, found.ecc_errors, found.ecc_corrected) == (None, None, None)


def test_a_count_that_fails_is_not_known(nvml_stub: Path) -> None:
    fails = {"STUB_ECC": "3", "STUB_FAIL": "nvmlDeviceGetTotalEccErrors=3"}
    found = card(nvml_stub, V100(1), **fails)
    assert (found.ecc, found.ecc_errors) == (True, None)


def test_remapped_rows(nvml_stub: Path) -> None:
    assert card(nvml_stub, A100(1), STUB_ROWS="1 2 1 0").repairs == MemoryRepairs(
        unit=RepairUnit.ROWS, corrected=1, uncorrected=2, pending=True, failed=False
    )


def test_retired_pages_of_a_card_that_remaps_no_rows(nvml_stub: Path) -> None:
    assert card(nvml_stub, V100(1), STUB_PAGES="3 1 1").repairs == MemoryRepairs(
        unit=RepairUnit.PAGES, corrected=3, uncorrected=1, pending=True
    )


def test_functions_that_an_old_driver_lacks_leave_repairs_unknown(tmp_path: Path) -> None:
    stub = build_stub(
        tmp_path, without=["nvmlDeviceGetRemappedRows", "nvmlDeviceGetRetiredPagesPendingStatus"]
    )
    assert card(stub, V100(1), STUB_PAGES="3 1 1", STUB_ROWS="1 1 1 1").repairs == MemoryRepairs(
        unit=RepairUnit.PAGES, corrected=3, uncorrected=1
    )
    assert card(stub, V100(1)).repairs is None
