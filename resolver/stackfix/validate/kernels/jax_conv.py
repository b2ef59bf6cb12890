"""Convolutions through jax: 2-D and 3-D, all types, with both gradients, against float64."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.cuda_libraries import (
        default_sites,
        installed,
        mapped,
        stem_of,
    )
    from stackfix.validate.kernels.jax_device import compare, kinds, load_jax
    from stackfix.validate.kernels.libraries import examine
    from stackfix.validate.kernels.numerics import CONVOLUTION
    from stackfix.validate.kernels.reporting import CheckSkipped, Reporter, arguments, reporting
else:
    from cuda_libraries import default_sites, installed, mapped, stem_of
    from jax_device import compare, kinds, load_jax
    from libraries import examine
    from numerics import CONVOLUTION
    from reporting import CheckSkipped, Reporter, arguments, reporting

SHAPES = (
    ("2-D 3×3", (4, 32, 28, 28), (64, 32, 3, 3)),
    ("3-D 3×3×3", (2, 16, 8, 16, 16), (32, 16, 3, 3, 3)),
)
TYPES = ("float32", "float16", "bfloat16")
_COMPUTING = ("libcudnn_cnn", "libcudnn_engines", "libcudnn_heuristic")
"""cuDNN 8 has the first of them, cuDNN 9 all."""
PARTS = ("forward", "input gradient", "weight gradient")


def main() -> int:
    options = arguments(__doc__ or "", device=True).parse_args()
    with reporting(options) as report:
        jax, devices = load_jax(report, options.device)
        if jax is not None:
            for device, where in kinds(devices):
                run(jax, device, report, where, quick=options.quick)
            if options.device == "cuda":
                # jax loads its libraries when it first needs them.
                loaded = mapped()
                with report.check("they ran through cuDNN"):
                    require_cudnn(loaded)
                examine(report, loaded, installed(default_sites()), {})
        return report.end()


def run(jax: Any, device: Any, report: Reporter, where: str, *, quick: bool) -> None:
    numpy: Any = import_module("numpy")
    numbers = numpy.random.default_rng(0)
    for name, given, weight in SHAPES[:1] if quick else SHAPES:
        for kind in TYPES[1:2] if quick else TYPES:
            dtype = jax.numpy.dtype(kind)
            grown = (given[0], weight[0], *given[2:])
            shapes = (given, weight, grown)
            rounded = [numbers.standard_normal(shape).astype(dtype) for shape in shapes]
            precise = [array.astype("float64") for array in rounded]
            for part in PARTS:
                with report.check(f"{name} {kind} {part}{where}") as check:
                    actual = convolve(jax, device, rounded, part)
                    expected = convolve(jax, jax.local_devices(backend="cpu")[0], precise, part)
                    check.detail = (
                        f"error {compare(numpy, actual, expected, CONVOLUTION[kind]):.1e}"
                    )


def convolve(jax: Any, device: Any, arrays: list[Any], part: str) -> Any:
    """Result or gradient on the device; each by itself, so that a failure is told of it alone."""
    x, w, g = (jax.device_put(array, device) for array in arrays)

    def forward(x: Any, w: Any) -> Any:
        strides = (1,) * (x.ndim - 2)
        return jax.lax.conv_general_dilated(
            x, w, strides, "SAME", precision=jax.lax.Precision.HIGHEST
        )

    def gradient(x: Any, w: Any, g: Any) -> Any:
        _, backward = jax.vjp(forward, x, w)
        return backward(g)[PARTS.index(part) - 1]

    if part == "forward":
        return jax.jit(forward)(x, w)
    return jax.jit(gradient)(x, w, g)


def require_cudnn(loaded: list[str]) -> None:
    """Of cuDNN, jax's asking for its version loads the main library and one part.

    The parts that compute are loaded by cuDNN itself with the first computation.
    """
    stems = [stem_of(os.path.basename(path)) or "" for path in loaded]
    if not any(stem.startswith(_COMPUTING) for stem in stems):
        raise CheckSkipped("no part of cuDNN that computes is loaded: jax used code of its own")


if __name__ == "__main__":
    sys.exit(main())
