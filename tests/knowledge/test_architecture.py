"""Which image runs on which card: the rules of CUDA, with torch's table as reference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from stackfix_knowledge.hardware import Architecture, CodeKind, ComputeCapability

RUNS_ON = {
    "5.0": "5.0 5.2",
    "5.2": "5.2",
    "5.3": "5.3",
    "6.0": "6.0 6.1",
    "6.1": "6.1",
    "6.2": "6.2",
    "7.0": "7.0 7.5",
    "7.2": "7.2",
    "7.5": "7.5",
    "8.0": "8.0 8.6 8.9",
    "8.6": "8.6 8.9",
    "8.7": "8.7",
    "8.9": "8.9",
    "9.0": "9.0",
    "10.0": "10.0 10.3",
    "10.1": "10.1 11.0",
    "10.3": "10.3",
    "11.0": "10.1 11.0",
    "12.0": "12.0 12.1",
    "12.1": "12.1",
}
"""Machine code and the cards that take it, from the device requirements of torch 2.15.0."""

CARDS = tuple(RUNS_ON)

cards = st.sampled_from([ComputeCapability.parse(card) for card in CARDS])
architectures = st.builds(
    Architecture, st.sampled_from(CodeKind), cards, st.sampled_from(["", "a", "f"])
)


def runs(image: str, card: str, toolkit: str | None = None) -> bool:
    return Architecture.parse(image).runs_on(
        ComputeCapability.parse(card), toolkit=Version(toolkit) if toolkit else None
    )


@pytest.mark.parametrize("built_for", CARDS)
def test_plain_machine_code_follows_torchs_table(built_for: str) -> None:
    image = f"sm_{built_for.replace('.', '')}"
    assert " ".join(card for card in CARDS if runs(image, card)) == RUNS_ON[built_for]


def test_l4_runs_sm_86_code() -> None:
    assert runs("sm_86", "8.9")


def test_orin_takes_only_its_own_code_before_cuda_13_2() -> None:
    assert not runs("sm_80", "8.7")
    assert not runs("sm_86", "8.7", "13.1")
    assert runs("sm_86", "8.7", "13.2")
    assert runs("sm_80", "8.7", "13.3")


def test_the_lifted_limit_lifts_nothing_else() -> None:
    assert runs("sm_70", "7.2", "13.2")
    assert not runs("sm_60", "6.2", "13.2")
    assert not runs("sm_87", "8.9", "13.2")
    assert not runs("sm_89", "8.7", "13.2")


def test_a_code_runs_on_that_very_card() -> None:
    assert runs("sm_90a", "9.0")
    assert not runs("sm_100a", "10.3")
    assert not runs("sm_120a", "12.1")
    assert runs("sm_101a", "11.0")


def test_f_code_runs_within_its_family() -> None:
    assert runs("sm_100f", "10.0")
    assert runs("sm_100f", "10.3")
    assert not runs("sm_103f", "10.0")
    assert not runs("sm_100f", "11.0")
    assert not runs("sm_100f", "12.0")
    assert runs("sm_120f", "12.1")


def test_ptx_is_compiled_for_any_later_card() -> None:
    assert runs("compute_90", "12.0")
    assert runs("compute_80", "8.7")
    assert not runs("compute_90", "8.9")


def test_ptx_variants_stay_where_they_were_written_for() -> None:
    assert runs("compute_90a", "9.0")
    assert not runs("compute_90a", "10.0")
    assert runs("compute_100f", "10.3")
    assert not runs("compute_100f", "12.0")


@given(architectures)
def test_what_is_written_is_read_again(image: Architecture) -> None:
    assert Architecture.parse(str(image)) == image


@given(architectures)
def test_every_image_runs_on_the_card_it_was_built_for(image: Architecture) -> None:
    assert image.runs_on(image.capability)


@given(architectures, cards)
def test_a_variant_never_runs_where_the_plain_image_does_not(
    image: Architecture, card: ComputeCapability
) -> None:
    plain = Architecture(image.kind, image.capability)
    assert not image.runs_on(card) or plain.runs_on(card) or card.device == image.capability.device


@given(architectures, cards)
def test_nothing_runs_on_an_older_card(image: Architecture, card: ComputeCapability) -> None:
    assert not image.runs_on(card) or card.device >= image.capability.device


@given(architectures, cards)
def test_a_newer_toolkit_takes_no_card_away(image: Architecture, card: ComputeCapability) -> None:
    assert image.runs_on(card, toolkit=Version("13.3")) or not image.runs_on(card)


@given(st.lists(architectures, unique=True))
def test_machine_code_sorts_before_ptx(images: list[Architecture]) -> None:
    kinds = [image.kind for image in sorted(images)]
    assert kinds == sorted(kinds, key=[CodeKind.SASS, CodeKind.PTX].index)


@pytest.mark.parametrize(
    "text", ["sm_9", "90", "sm_90b", "sm90", "lto_90", "sm_90af", "compute_", ""]
)
def test_other_names_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="is no GPU architecture: expected one like"):
        Architecture.parse(text)
