"""cuDNN's convolutions through torch: 2-D and 3-D, all types and layouts, with both gradients.

Every result is compared with float64 on the processor; `numerics.py` states the tolerances. torch
sends some convolutions to kernels of its own (bfloat16 on older cards, 3-D with a cuDNN that it
knows to be wrong): those have to be right too, and are told as not proven for cuDNN.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.cuda_libraries import default_sites, installed, mapped
    from stackfix.validate.kernels.libraries import examine
    from stackfix.validate.kernels.numerics import CONVOLUTION
    from stackfix.validate.kernels.reporting import (
        CheckFailed,
        CheckSkipped,
        Reporter,
        arguments,
        reporting,
    )
    from stackfix.validate.kernels.torch_device import compare, load_torch, places, types_it_has
else:
    from cuda_libraries import default_sites, installed, mapped
    from libraries import examine
    from numerics import CONVOLUTION
    from reporting import CheckFailed, CheckSkipped, Reporter, arguments, reporting
    from torch_device import compare, load_torch, places, types_it_has

#        name, input (batch, channels, space…), weight, stride, padding
SHAPES = (
    ("2-D 3×3", (4, 32, 28, 28), (64, 32, 3, 3), 1, 1),
    ("2-D 1×1", (4, 64, 14, 14), (128, 64, 1, 1), 1, 0),
    ("2-D 7×7 stride 2", (2, 3, 64, 64), (32, 3, 7, 7), 2, 3),
    ("3-D 3×3×3", (2, 16, 8, 16, 16), (32, 16, 3, 3, 3), 1, 1),
)
QUICK = SHAPES[:1]
TYPES = ("float32", "tf32", "float16", "bfloat16")
"""tf32 is float32 with TF32 allowed."""
LAYOUTS = ("contiguous", "channels-last")
PARTS = ("forward", "input gradient", "weight gradient")


def main() -> int:
    options = arguments(__doc__ or "", device=True).parse_args()
    with reporting(options) as report:
        torch = load_torch(report, options.device)
        if torch is not None:
            if options.device == "cuda":
                with report.condition("torch has a cuDNN that it accepts") as check:
                    if not torch.backends.cudnn.is_available():
                        raise CheckFailed("torch was built without cuDNN")
                    check.detail = f"cuDNN {torch.backends.cudnn.version()}"
            for device, where in places(torch, options.device):
                run(torch, report, device, where, quick=options.quick)
            if options.device == "cuda":
                # cuDNN loads its parts when they are first needed: only now are they all here.
                examine(report, mapped(), installed(default_sites()), {})
        return report.end()


def run(torch: Any, report: Reporter, device: str, where: str, *, quick: bool) -> None:
    torch.manual_seed(0)
    by_cudnn = 0
    for case in QUICK if quick else SHAPES:
        for kind in TYPES:
            if kind == "tf32" and device == "cpu":
                continue
            convolution = Convolution(torch, case, kind)
            for layout in LAYOUTS:
                for part in PARTS:
                    with report.check(f"{convolution.name} {layout} {part}{where}") as check:
                        if kind == "tf32":
                            require_tf32(torch, device)
                        backend, actual = convolution.compute(device, layout, part)
                        error = compare(actual, convolution.expected[part], CONVOLUTION[kind])
                        if device != "cpu" and backend not in ("Cudnn", None):
                            raise CheckSkipped(
                                f"right (error {error:.1e}), but torch computes it with"
                                f" {backend} of its own, not with cuDNN"
                            )
                        by_cudnn += 1
                        check.detail = f"error {error:.1e}"
    if device != "cpu" and not by_cudnn:
        with report.check(f"a convolution by cuDNN{where}"):
            raise CheckFailed("none was right, or torch sent none of them to cuDNN")


def require_tf32(torch: Any, device: str) -> None:
    if torch.cuda.get_device_capability(device) < (8, 0):
        raise CheckSkipped("cards below 8.0 have no TF32")
    if os.environ.get("NVIDIA_TF32_OVERRIDE") == "0":
        raise CheckSkipped("NVIDIA_TF32_OVERRIDE=0 switches TF32 off")


class Convolution:
    """The numbers of one convolution in one type, and what must come out."""

    def __init__(self, torch: Any, case: Any, kind: str) -> None:
        shape_name, input_shape, weight_shape, stride, padding = case
        self.name = f"{shape_name} {kind}"
        self._torch = torch
        self._tf32 = kind == "tf32"
        self._space = len(input_shape) - 2
        self._stride, self._padding = stride, padding
        dtype = getattr(torch, "float32" if self._tf32 else kind)
        # Rounded first, so that device and reference start from the same numbers.
        shapes = (input_shape, weight_shape, _result_shape(case))
        self._numbers = [torch.randn(shape).to(dtype) for shape in shapes]

    @functools.cached_property
    def expected(self) -> dict[str, Any]:
        """By part, in float64 on the processor."""
        x, w, grown = (numbers.to(self._torch.float64) for numbers in self._numbers)
        return {part: self._part(x, w, grown, part) for part in PARTS}

    def compute(self, device: str, layout: str, part: str) -> tuple[str | None, Any]:
        """What torch computes it with ("Cudnn"; None: it does not say), and the result.

        Each part by itself: what fails in one is told of no other.
        """
        torch = self._torch
        last = torch.channels_last if self._space == 2 else torch.channels_last_3d
        form = last if layout == "channels-last" else torch.contiguous_format
        x, w, grown = (
            numbers.to(device=device).contiguous(memory_format=form) for numbers in self._numbers
        )
        torch.backends.cudnn.allow_tf32 = self._tf32
        with types_it_has(device):
            return self._backend(x, w), self._part(x, w, grown, part)

    def _part(self, x: Any, w: Any, grown: Any, part: str) -> Any:
        convolve = getattr(self._torch.nn.functional, f"conv{self._space}d")
        x, w = (
            tensor.detach().requires_grad_(part == f"{which} gradient")
            for tensor, which in ((x, "input"), (w, "weight"))
        )
        y = convolve(x, w, stride=self._stride, padding=self._padding)
        if part == "forward":
            return y
        (gradient,) = self._torch.autograd.grad(y, x if part == "input gradient" else w, grown)
        return gradient

    def _backend(self, x: Any, w: Any) -> str | None:
        ask = getattr(self._torch._C, "_select_conv_backend", None)
        if ask is None:
            return None
        every, none = [1] * self._space, [0] * self._space
        sizes = ([self._stride] * self._space, [self._padding] * self._space, every)
        return str(ask(x, w, None, *sizes, False, none, 1)).rpartition(".")[2]


def _result_shape(case: Any) -> tuple[int, ...]:
    _, given, weight, stride, padding = case
    space = (
        (size + 2 * padding - kernel) // stride + 1
        for size, kernel in zip(given[2:], weight[2:])  # noqa: B905
    )
    return (given[0], weight[0], *space)


if __name__ == "__main__":
    sys.exit(main())
