"""Targets as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackfix.targets.parse import TargetError, card_name, parse_target
from stackfix_knowledge.cards.gpus import GpuTable

GPUS = GpuTable.load()


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("RTX 5090:4@570.133.07", "4 × RTX 5090 (12.0), driver 570.133.07"),
        ("rtx5090", "RTX 5090 (12.0)"),
        ("NVIDIA GeForce RTX 5090", "RTX 5090 (12.0)"),
        ("L4", "L4 (8.9)"),
        ("V100@535.183.01", "V100 (7.0), driver 535.183.01"),
        ("sm_120", "sm_120"),
        ("12.0", "sm_120"),
        (
            "A100:8@535.183.01+580.65.06",
            "8 × A100 (8.0), driver 535.183.01 with cuda-compat 580.65.06",
        ),
        ("sm_90:8@550", "8 × sm_90, driver 550"),
        ("  L4 : 2 @ 550.54.15 ", "2 × L4 (8.9), driver 550.54.15"),
    ],
)
def test_a_target_reads_as_people_write_it(text: str, label: str) -> None:
    assert parse_target(text, GPUS).label == label


@pytest.mark.parametrize(
    ("text", "platform"),
    [
        ("RTX 5090", "linux_x86_64"),
        ("GH200", "linux_aarch64"),
        ("GB10", "linux_aarch64"),
        ("sm_121", "linux_aarch64"),  # no other card has it
        ("sm_90", "linux_x86_64"),  # H100 and GH200 do
    ],
)
def test_the_platform_follows_the_card(text: str, platform: str) -> None:
    assert parse_target(text, GPUS).platform == platform


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rtx5909", 'did you mean "RTX 5090"'),
        ("RTX 6000", '"RTX 6000 Ada Generation"'),  # three cards are called so
        ("", "expected GPU[:COUNT][@DRIVER[+COMPAT]]"),
        (":4", "expected GPU[:COUNT][@DRIVER[+COMPAT]]"),
        ("@570", "expected GPU[:COUNT][@DRIVER[+COMPAT]]"),
        ("L4@", "expected GPU[:COUNT][@DRIVER[+COMPAT]]"),
        ("L4@535+", "expected a driver version"),
        ("L4@535+cuda-compat", "expected a driver version"),
        ("L4:", "expected the number of cards"),
        ("L4:0", "expected the number of cards"),
        ("L4:-1", "expected the number of cards"),
        ("L4:²", "expected the number of cards"),
        ("L4:99999999999999999999", "expected the number of cards"),
        ("L4@latest", "expected a driver version"),
        ("sm_99", "no known card has compute capability 9.9"),
    ],
)
def test_what_is_no_target_is_told_in_one_line(text: str, words: str) -> None:
    with pytest.raises(TargetError) as error:
        parse_target(text, GPUS)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        parse_target(text, GPUS)
    except TargetError as error:
        said = str(error)
    else:
        said = ""
    assert len(said.splitlines()) <= 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"),
        ("Tesla T4", "T4"),
        ("NVIDIA", "NVIDIA"),
    ],
)
def test_cards_are_named_as_people_say(name: str, said: str) -> None:
    assert card_name(name) == said
