"""The real nvidia-ml-py, driven by a stand-in for the driver's library."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from stackfix.host.nvml import NvmlUnavailable, ask
from tests.resolver.host.stub import A100_MIG, RTX_5090, V100, build_stub, stub_env


def test_cards_come_with_everything_that_a_plan_needs(nvml_stub: Path) -> None:
    answer = ask(env=stub_env(nvml_stub, RTX_5090(1), V100(2)))
    first, second = answer.cards
    assert (first.name, first.capability) == ("NVIDIA GeForce RTX 5090", "12.0")
    assert (first.memory, first.uuid, first.pci) == (32 << 30, "GPU-0001-aaaa", "0000:01:00.0")
    assert (second.index, second.name, second.capability) == (1, "Tesla V100-SXM2-16GB", "7.0")
    assert (answer.driver, answer.cuda_driver) == ("570.133.07", "12.8")
    assert answer.notes == ()


def test_a_driver_without_cards_is_an_answer(nvml_stub: Path) -> None:
    assert ask(env=stub_env(nvml_stub)).cards == ()


def test_mig_instances_are_listed(nvml_stub: Path) -> None:
    (card,) = ask(env=stub_env(nvml_stub, A100_MIG(4, ["MIG-one", "MIG-two"]))).cards
    assert [instance.uuid for instance in card.mig] == ["MIG-one", "MIG-two"]
    assert card.mig[0].memory == 10 << 30


def test_mig_mode_without_an_instance_is_noted(nvml_stub: Path) -> None:
    answer = ask(env=stub_env(nvml_stub, A100_MIG(4, [])))
    assert answer.cards[0].mig == ()
    assert "without an instance" in answer.notes[0]


def test_cards_know_which_others_they_reach(nvml_stub: Path) -> None:
    env = stub_env(nvml_stub, RTX_5090(1), RTX_5090(2), RTX_5090(3), STUB_NO_P2P="0-1")
    assert [card.peers for card in ask(env=env).cards] == [(2,), (2,), (0, 1)]


def test_cards_of_a_pair_that_is_not_told_have_no_known_peers(nvml_stub: Path) -> None:
    cards = (RTX_5090(1), RTX_5090(2), RTX_5090(3))
    env = stub_env(nvml_stub, *cards, STUB_FAIL="nvmlDeviceGetP2PStatus/1=3")
    assert [card.peers for card in ask(env=env).cards] == [(1, 2), None, None]


def test_a_missing_library_says_so(tmp_path: Path) -> None:
    with pytest.raises(NvmlUnavailable, match="Shared Library Not Found"):
        ask(env=stub_env(tmp_path))


def test_a_library_that_is_no_library_says_so(tmp_path: Path) -> None:
    (tmp_path / "libnvidia-ml.so.1").write_text("not an ELF file")
    with pytest.raises(NvmlUnavailable, match="Not Found"):
        ask(env=stub_env(tmp_path))


@pytest.mark.parametrize(
    ("code", "words"), [(9, "Driver Not Loaded"), (18, "version mismatch"), (999, "Unknown Error")]
)
def test_an_init_that_fails_says_why(nvml_stub: Path, code: int, words: str) -> None:
    with pytest.raises(NvmlUnavailable, match=words):
        ask(env=stub_env(nvml_stub, RTX_5090(), STUB_FAIL=f"nvmlInitWithFlags={code}"))


def test_a_crash_inside_the_library_stays_in_the_child(nvml_stub: Path) -> None:
    with pytest.raises(NvmlUnavailable, match="signal 6"):
        ask(env=stub_env(nvml_stub, RTX_5090(), STUB_CRASH="nvmlDeviceGetName"))


def test_a_hanging_driver_costs_a_bounded_time(nvml_stub: Path) -> None:
    started = time.monotonic()
    with pytest.raises(NvmlUnavailable, match=r"no answer within 0\.5 s"):
        ask(env=stub_env(nvml_stub, RTX_5090(), STUB_SLOW="nvmlInitWithFlags=30"), timeout=0.5)
    assert time.monotonic() - started < 20


def test_a_library_that_prints_does_not_spoil_the_answer(nvml_stub: Path) -> None:
    assert len(ask(env=stub_env(nvml_stub, RTX_5090(), STUB_NOISE="1")).cards) == 1


def test_a_lost_card_does_not_cost_the_others(nvml_stub: Path) -> None:
    lost = "nvmlDeviceGetHandleByIndex_v2/0=15"
    answer = ask(env=stub_env(nvml_stub, RTX_5090(1), V100(2), STUB_FAIL=lost))
    assert [card.index for card in answer.cards] == [1]
    assert "card 0 does not answer" in answer.notes[0]


def test_a_value_that_fails_is_none_with_a_note(nvml_stub: Path) -> None:
    answer = ask(env=stub_env(nvml_stub, RTX_5090(), STUB_FAIL="nvmlDeviceGetMemoryInfo=3"))
    assert answer.cards[0].memory is None
    assert answer.cards[0].capability == "12.0"
    assert "memory of card 0" in answer.notes[0]


def test_functions_that_an_old_driver_lacks_are_done_without(tmp_path: Path) -> None:
    missing = [
        "nvmlSystemGetCudaDriverVersion_v2",
        "nvmlDeviceGetMigMode",
        "nvmlDeviceGetCudaComputeCapability",
    ]
    answer = ask(env=stub_env(build_stub(tmp_path, without=missing), RTX_5090()))
    assert answer.cuda_driver == "12.8"  # the older form of the function is there
    assert answer.cards[0].mig == ()
    assert answer.cards[0].capability is None
    assert "compute capability of card 0" in answer.notes[0]
