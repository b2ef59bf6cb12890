"""Sums and gathers through jax over all local devices; every value has to be exact."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.jax_device import load_jax
    from stackfix.validate.kernels.telling import Telling, Wrong, arguments, telling
else:
    from jax_device import load_jax
    from telling import Telling, Wrong, arguments, telling

COUNTS = (1, 256 << 10, 8 << 20)
"""Numbers of float32 on each device: 4 B to 32 MiB."""


def main() -> int:
    options = arguments(__doc__ or "", device=True).parse_args()
    with telling(options) as tell:
        jax, devices = load_jax(tell, options.device)
        if jax is not None:
            run(jax, devices, tell, quick=options.quick)
        return tell.end()


def run(jax: Any, devices: Any, tell: Telling, *, quick: bool) -> None:
    numpy: Any = import_module("numpy")
    many = len(devices)
    tell.fact("devices", many)
    if many == 1:
        tell.skip("between cards", "jax sees one device: nothing crosses between cards")
    for count in COUNTS[:2] if quick else COUNTS:
        counting = (numpy.arange(count) % 251).astype("float32")
        given = numpy.stack([counting + rank for rank in range(many)])
        with tell.check(f"psum, {count * 4:,} bytes"):
            total = jax.pmap(lambda x: jax.lax.psum(x, "d"), axis_name="d", devices=devices)(given)
            require_equal(numpy, total, numpy.stack([given.sum(0)] * many))
        with tell.check(f"all_gather, {count * 4:,} bytes"):
            gather = jax.pmap(lambda x: jax.lax.all_gather(x, "d"), axis_name="d", devices=devices)
            require_equal(numpy, gather(given), numpy.stack([given] * many))


def require_equal(numpy: Any, found: Any, expected: Any) -> None:
    found = numpy.asarray(found)
    if found.shape != expected.shape:
        raise Wrong(f"the shape is {found.shape}, expected {expected.shape}")
    if wrong := int((found != expected).sum()):
        raise Wrong(f"{wrong:,} of {expected.size:,} values are wrong")


if __name__ == "__main__":
    sys.exit(main())
