"""The tolerances lie between what a right kernel is off by and what a wrong one is."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable

import pytest

from stackfix.validate.kernels.numerics import ATTENTION, CONVOLUTION, verdict

PRODUCTS = 288
"""In a sum: the 2-D convolution's 32 channels of 3×3."""
LONGEST = 4096
"""In a sum: the weight gradient of the 3-D convolution."""
ELEMENTS = 400
Rounding = Callable[[float], float]


def keep(bits: int) -> Rounding:
    """Round to so many bits of precision, in a type with float32's range."""

    def rounded(value: float) -> float:
        fraction, exponent = math.frexp(value)
        return math.ldexp(round(math.ldexp(fraction, bits)), exponent - bits)

    return rounded


def half(value: float) -> float:
    result: float = struct.unpack("<e", struct.pack("<e", value))[0]
    return result


def exact(value: float) -> float:
    return value


TYPES: dict[str, Rounding] = {
    "float32": keep(24),
    "tf32": keep(24),
    "float16": half,
    "bfloat16": keep(8),
}


def error(stored: Rounding, factor: Rounding = exact) -> float:
    """The largest error, as the kernels have it, of sums whose factors are rounded once more."""
    numbers = random.Random(1)
    pairs = []
    for _ in range(ELEMENTS):
        x, w = ([stored(numbers.gauss(0, 1)) for _ in range(PRODUCTS)] for _ in range(2))
        right = math.fsum(map(float.__mul__, x, w))
        found = math.fsum(factor(a) * factor(b) for a, b in zip(x, w, strict=True))
        pairs.append((stored(found), right))
    return largest(pairs)


def largest(pairs: list[tuple[float, float]]) -> float:
    scale = math.sqrt(sum(right * right for _, right in pairs) / len(pairs))
    return max(abs(found - right) / (abs(right) + scale) for found, right in pairs)


@pytest.mark.parametrize("kind", TYPES)
def test_a_right_result_has_room(kind: str) -> None:
    factor = keep(11) if kind == "tf32" else exact
    assert error(TYPES[kind], factor) < CONVOLUTION[kind] / 4


@pytest.mark.parametrize("kind", TYPES)
def test_one_product_of_the_longest_sum_left_out_is_wrong(kind: str) -> None:
    numbers = random.Random(1)
    pairs = []
    for _ in range(10 * ELEMENTS):
        right = numbers.gauss(0, math.sqrt(LONGEST))
        pairs.append((TYPES[kind](right - numbers.gauss(0, 1) * numbers.gauss(0, 1)), right))
    assert largest(pairs) > CONVOLUTION[kind]


def test_tf32_that_was_not_allowed_is_wrong_for_float32() -> None:
    assert error(keep(24), keep(11)) > 2 * CONVOLUTION["float32"]


@pytest.mark.parametrize("kind", ATTENTION)
def test_a_block_of_positions_left_out_is_wrong(kind: str) -> None:
    """16 of 128 weights that are about equal: the error is about √(16/128) of the result."""
    assert math.sqrt(16 / 128) > 2 * ATTENTION[kind]


def test_what_is_not_a_number_is_wrong_whatever_the_tolerance() -> None:
    assert verdict(math.nan, math.inf) == "the result is not a number"
    assert verdict(math.inf, 1.0) is not None
    assert verdict(0.0, 1e-9) is None
