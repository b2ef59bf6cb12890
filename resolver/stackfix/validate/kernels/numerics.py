"""How far a result may be from the reference, and what is said when it is farther.

The reference is computed on the processor in float64 from the very inputs that the card got,
already rounded to its type. The error of an element is its difference from the reference, divided
by the sum of the reference's root mean square and the element's own size; the largest counts. What
may remain is the rounding of the type (its unit roundoff), that of partial sums, and what the
faster algorithms for convolution (Winograd, FFT) lose. A wrong element is off by about one.
"""

from __future__ import annotations

import math

TOLERANCES = {
    "float32": 2e-4,  # unit roundoff 6e-8; Winograd loses up to three digits
    "tf32": 2e-2,  # inputs rounded to 11 bits, as in float16
    "float16": 2e-2,  # unit roundoff 4.9e-4
    "bfloat16": 1e-1,  # unit roundoff 3.9e-3
}
"""By type: the error up to which a result is right."""


def verdict(error: float, kind: str) -> str | None:
    """None where the error is within the tolerance, else what is wrong. NaN is never within."""
    tolerance = TOLERANCES[kind]
    if error <= tolerance:
        return None
    if math.isnan(error):
        return "the result is not a number"
    return f"the error is {error:.2g}, {tolerance:.0e} is the tolerance"
