"""CUDA_VISIBLE_DEVICES as CUDA reads it."""

from __future__ import annotations

import pytest

from stackfix.host.host import Card, MigInstance
from stackfix.host.visible import apply_visible_devices

_CARDS = tuple(
    Card(index=index, name="NVIDIA L4", capability="8.9", uuid=f"GPU-{index}{index}{index}-a")
    for index in range(4)
)
_MIG = Card(
    index=4,
    name="NVIDIA A100-SXM4-80GB",
    capability="8.0",
    uuid="GPU-444-a",
    mig=(MigInstance(uuid="MIG-one"), MigInstance(uuid="MIG-two")),
)


def visible(setting: str | None) -> list[int]:
    cards = apply_visible_devices((*_CARDS, _MIG), setting).cards
    return [card.index for card in cards if card.visible]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (None, [0, 1, 2, 3, 4]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
        ("2", [2]),
        ("3,1", [1, 3]),
        (" 0 , 2 ", [0, 2]),
        ("0,9,1", [0]),  # everything after an unknown one is ignored
        ("0,-1,1", [0]),
        ("1,1", []),  # named twice: none
        ("GPU-222", [2]),
        ("GPU-222-a,0", [0, 2]),
        ("GPU-", []),  # fits several cards
        ("GPU-nobody", []),
        ("MIG-two", [4]),
        ("MIG-GPU-444-a/1/0", [4]),
        ("MIG-nobody", []),
    ],
)
def test_what_a_setting_leaves_visible(setting: str | None, expected: list[int]) -> None:
    assert visible(setting) == expected


def test_a_named_instance_is_the_only_one_left() -> None:
    *_, card = apply_visible_devices((*_CARDS, _MIG), "MIG-two").cards
    assert [instance.uuid for instance in card.mig] == ["MIG-two"]


def test_an_unknown_entry_is_noted() -> None:
    (note,) = apply_visible_devices(_CARDS, "0,7").notes
    assert "'7'" in note
    assert "ignores all that follows" in note


@pytest.mark.parametrize("setting", ["", "-1"])
def test_hiding_all_cards_on_purpose_needs_no_note(setting: str) -> None:
    assert apply_visible_devices(_CARDS, setting).notes == ()


def test_indices_among_different_cards_are_doubtful_unless_ordered_by_pci() -> None:
    mixed = (*_CARDS, _MIG)
    assert "fastest first" in apply_visible_devices(mixed, "0").notes[0]
    assert apply_visible_devices(mixed, "0", by_pci=True).notes == ()
    assert apply_visible_devices(mixed, "GPU-000").notes == ()
    assert apply_visible_devices(_CARDS, "0").notes == ()
