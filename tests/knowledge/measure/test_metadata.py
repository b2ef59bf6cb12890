"""What a platform pins is worked out from METADATA."""

import pytest
from packaging.version import Version

from stackfix_knowledge.measure.wheel import pins

TORCH = (
    'nvidia-cudnn-cu12==9.10.2.21; platform_system == "Linux" and platform_machine == "x86_64"',
    'triton==3.4.0; platform_system == "Linux"',
    "sympy>=1.13.3",
    'optree==0.13.0; extra == "optree"',
    "numpy==2.*",
)


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
