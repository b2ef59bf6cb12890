"""cuDNN's convolutions through torch: 2-D and 3-D, all types and layouts, with both gradients.

Every result is compared with float64 on the processor; `numerics.py` states the tolerances.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.cuda_libraries import default_sites, installed, mapped
    from stackfix.validate.kernels.libraries import examine
    from stackfix.validate.kernels.telling import Telling, Wrong, arguments, telling
    from stackfix.validate.kernels.torch_device import compare, load_torch
else:
    from cuda_libraries import default_sites, installed, mapped
    from libraries import examine
    from telling import Telling, Wrong, arguments, telling
    from torch_device import compare, load_torch

#        name, input (batch, channels, space…), weight, stride, padding
SHAPES = (
    ("2-D 3×3", (4, 32, 28, 28), (64, 32, 3, 3), 1, 1),
    ("2-D 1×1", (4, 64, 14, 14), (128, 64, 1, 1), 1, 0),
    ("2-D 7×7 stride 2", (2, 3, 64, 64), (32, 3, 7, 7), 2, 3),
    ("3-D 3×3×3", (2, 16, 8, 16, 16), (32, 16, 3, 3, 3), 1, 1),
)
QUICK = SHAPES[:1]
TYPES = ("float32", "tf32", "float16", "bfloat16")


def main() -> int:
    options = arguments(__doc__ or "", device=True).parse_args()
    with telling(options) as tell:
        torch = load_torch(tell, options.device)
        if torch is not None:
            run(torch, tell, options.device, quick=options.quick)
        return tell.end()


def run(torch: Any, tell: Telling, device: str, *, quick: bool) -> None:
    torch.manual_seed(0)
    if device == "cuda":
        with tell.check("torch uses cuDNN") as told:
            if not torch.backends.cudnn.is_available():
                raise Wrong("torch was built without cuDNN, or cannot load it")
            told.detail = f"cuDNN {torch.backends.cudnn.version()}"
    for case in QUICK if quick else SHAPES:
        for kind in TYPES:
            if kind == "tf32" and device != "cuda":
                continue
            for layout in ("contiguous", "channels-last"):
                for name, actual, expected in convolutions(torch, device, case, kind, layout):
                    with tell.check(name) as told:
                        error = compare(actual(), expected(), kind)
                        told.detail = f"error {error:.1e}"
    if device == "cuda":
        torch.cuda.synchronize()
        # cuDNN loads its parts when they are first needed: only now are they all here.
        examine(tell, mapped(), installed(default_sites()), {})


def convolutions(
    torch: Any, device: str, case: Any, kind: str, layout: str
) -> Iterator[tuple[str, Any, Any]]:
    """Name, the computation on the device and the reference, for result and both gradients."""
    shape_name, input_shape, weight_shape, stride, padding = case
    dtype = getattr(torch, "float32" if kind == "tf32" else kind)
    space = len(input_shape) - 2
    convolve = getattr(torch.nn.functional, f"conv{space}d")
    last = torch.channels_last if space == 2 else torch.channels_last_3d
    form = last if layout == "channels-last" else torch.contiguous_format

    # Rounded first, so that device and reference start from the same numbers.
    rounded = [torch.randn(shape).to(dtype) for shape in (input_shape, weight_shape)]
    grown = torch.randn(_result_shape(case)).to(dtype)

    def compute(where: str, precise: bool) -> tuple[Any, Any, Any]:
        kind_of = torch.float64 if precise else dtype
        torch.backends.cudnn.allow_tf32 = kind == "tf32"
        x, w = (t.to(device=where, dtype=kind_of).requires_grad_(True) for t in rounded)
        if not precise:
            x, w = (t.detach().contiguous(memory_format=form).requires_grad_(True) for t in (x, w))
        y = convolve(x, w, stride=stride, padding=padding)
        dx, dw = torch.autograd.grad(y, (x, w), grown.to(device=where, dtype=kind_of))
        return y, dx, dw

    results: dict[str, tuple[Any, Any, Any]] = {}

    def part(which: str, where: str, precise: bool, position: int) -> Any:
        if which not in results:
            results[which] = compute(where, precise)
        return results[which][position]

    for position, what in enumerate(("forward", "input gradient", "weight gradient")):
        yield (
            f"{shape_name} {kind} {layout} {what}",
            lambda position=position: part("device", device, False, position),
            lambda position=position: part("reference", "cpu", True, position),
        )


def _result_shape(case: Any) -> tuple[int, ...]:
    _, given, weight, stride, padding = case
    space = (
        (size + 2 * padding - kernel) // stride + 1
        for size, kernel in zip(given[2:], weight[2:])  # noqa: B905
    )
    return (given[0], weight[0], *space)


if __name__ == "__main__":
    sys.exit(main())
