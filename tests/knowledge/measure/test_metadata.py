"""METADATA is read whole; what a platform pins is worked out from it."""

import pytest
from packaging.version import Version

from stackfix_knowledge.measure.wheel import pins, read_metadata
from tests.knowledge.measure.building import metadata

TORCH = (
    'nvidia-cudnn-cu12==9.10.2.21; platform_system == "Linux" and platform_machine == "x86_64"',
    'triton==3.4.0; platform_system == "Linux"',
    "sympy>=1.13.3",
    'optree==0.13.0; extra == "optree"',
    "numpy==2.*",
)


def test_every_requirement_is_kept_with_its_marker() -> None:
    text = metadata("torch", "2.8.0", *(f"Requires-Dist: {line}" for line in TORCH))
    assert read_metadata(text).requires == TORCH


def test_a_folded_line_is_one_line() -> None:
    text = metadata("x", "1", 'Requires-Dist: torch>=2;\n   extra == "gpu"')
    assert read_metadata(text).requires == ('torch>=2; extra == "gpu"',)


def test_the_description_is_not_metadata() -> None:
    text = metadata("x", "1", "Requires-Python: >=3.9") + "\n\nRequires-Dist: not-this\n"
    read = read_metadata(text)
    assert (read.requires, read.requires_python) == ((), ">=3.9")


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("linux_x86_64", {"nvidia-cudnn-cu12", "triton"}),
        ("linux_aarch64", {"triton"}),
        ("win_amd64", set()),
        ("macos_arm64", set()),
    ],
)
def test_pins_are_those_of_the_platform(platform: str, expected: set[str]) -> None:
    assert set(pins(TORCH, platform)) == expected


def test_a_pin_is_an_exact_version() -> None:
    assert pins(TORCH, "linux_x86_64")["nvidia-cudnn-cu12"] == Version("9.10.2.21")


def test_a_line_that_is_no_requirement_pins_nothing() -> None:
    assert pins(["not a requirement ==", "torch==2.8.0"], "any") == {"torch": Version("2.8.0")}
