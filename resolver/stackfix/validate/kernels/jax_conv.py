"""Convolutions through jax: 2-D and 3-D, all types, with both gradients, against float64."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.cuda_libraries import default_sites, installed, mapped
    from stackfix.validate.kernels.jax_device import compare, load_jax
    from stackfix.validate.kernels.libraries import examine
    from stackfix.validate.kernels.telling import Telling, arguments, telling
else:
    from cuda_libraries import default_sites, installed, mapped
    from jax_device import compare, load_jax
    from libraries import examine
    from telling import Telling, arguments, telling

SHAPES = (
    ("2-D 3×3", (4, 32, 28, 28), (64, 32, 3, 3)),
    ("3-D 3×3×3", (2, 16, 8, 16, 16), (32, 16, 3, 3, 3)),
)
TYPES = ("float32", "float16", "bfloat16")


def main() -> int:
    options = arguments(__doc__ or "", device=True).parse_args()
    with telling(options) as tell:
        jax, devices = load_jax(tell, options.device)
        if jax is not None:
            run(jax, devices[0], tell, quick=options.quick)
            if options.device == "cuda":
                # jax loads its libraries when it first needs them.
                examine(tell, mapped(), installed(default_sites()), {})
        return tell.end()


def run(jax: Any, device: Any, tell: Telling, *, quick: bool) -> None:
    numpy: Any = import_module("numpy")
    numbers = numpy.random.default_rng(0)
    for name, given, weight in SHAPES[:1] if quick else SHAPES:
        for kind in TYPES[1:2] if quick else TYPES:
            dtype = jax.numpy.dtype(kind)
            grown = (given[0], weight[0], *given[2:])
            shapes = (given, weight, grown)
            rounded = [numbers.standard_normal(shape).astype(dtype) for shape in shapes]
            with tell.check(f"{name} {kind}, forward and gradients") as told:
                actual = convolve(jax, device, rounded)
                precise = [array.astype("float64") for array in rounded]
                expected = convolve(jax, jax.local_devices(backend="cpu")[0], precise)
                errors = [
                    compare(numpy, got, wanted, kind)
                    for got, wanted in zip(actual, expected)  # noqa: B905
                ]
                told.detail = f"error {max(errors):.1e}"


def convolve(jax: Any, device: Any, arrays: list[Any]) -> tuple[Any, ...]:
    """Result, input gradient and weight gradient on the device."""
    x, w, g = (jax.device_put(array, device) for array in arrays)

    def forward(x: Any, w: Any) -> Any:
        strides = (1,) * (x.ndim - 2)
        return jax.lax.conv_general_dilated(
            x, w, strides, "SAME", precision=jax.lax.Precision.HIGHEST
        )

    def both(x: Any, w: Any, g: Any) -> Any:
        y, backward = jax.vjp(forward, x, w)
        return (y, *backward(g))

    results: tuple[Any, ...] = jax.jit(both)(x, w, g)
    return results


if __name__ == "__main__":
    sys.exit(main())
