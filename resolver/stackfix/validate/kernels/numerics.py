"""How far a result may be from the reference, and what is said when it is farther.

The reference is computed on the processor in float64 from the very inputs that the card got,
already rounded to its type. The error of an element is its difference from the reference, divided
by the sum of the reference's root mean square and the element's own size; the largest counts.

What a right result may be off by, for sums of K ≤ 4096 products of standard normal numbers (their
root mean square is √K) and a type with the unit roundoff u:

- its own rounding: at most u (float32 6e-8, float16 4.9e-4, bfloat16 3.9e-3);
- partial sums, which cuDNN keeps in float32 for all types: up to 6e-8·√K = 4e-6;
- TF32 rounds both factors to 11 bits. The errors of K products add up like their root: 4e-4 on
  average, and five times that, 2e-3, for the worst of some hundred thousand elements;
- algorithms that transform the numbers first (Winograd, FFT) lose more, in float32 up to three
  digits, in float16 about one and a half;
- attention rounds the weights and their gradients to the type before it sums again: up to 13 u
  measured on processors.

A wrong kernel is farther off than any of it: one product of 4096 that is left out shows as 5e-2 and
more in the worst element, a border or a block that is left out as 0.3 to 1. TF32 where it was not
allowed is 2e-3, and fails as float32.
"""

from __future__ import annotations

import math

CONVOLUTION = {"float32": 2e-4, "tf32": 1e-2, "float16": 2e-2, "bfloat16": 4e-2}
"""By type: the error up to which a convolution is right."""
ATTENTION = {"float32": 2e-4, "float16": 2e-2, "bfloat16": 1e-1}
COMPILED = 2e-4
"""Of a float32 sum of 256 values."""


def verdict(error: float, tolerance: float) -> str | None:
    """None where the error is within the tolerance, else what is wrong. NaN is never within."""
    if error <= tolerance:
        return None
    if math.isnan(error):
        return "the result is not a number"
    return f"the error is {error:.2g}, {tolerance:.0e} is the tolerance"
