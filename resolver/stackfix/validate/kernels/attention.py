"""Scaled-dot-product attention through torch, by each of its implementations, with gradients."""

from __future__ import annotations

import contextlib
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.numerics import ATTENTION
    from stackfix.validate.kernels.reporting import CheckSkipped, Reporter, arguments, reporting
    from stackfix.validate.kernels.torch_device import compare, load_torch, places, types_it_has
else:
    from numerics import ATTENTION
    from reporting import CheckSkipped, Reporter, arguments, reporting
    from torch_device import compare, load_torch, places, types_it_has

SHAPE = (2, 128, 4, 64)
"""Batch, positions, heads, width of a head, in the order that models have them in memory: every
implementation takes these, cuDNN's older ones no other order."""
BACKENDS = (None, "MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION")
"""None: the one that torch chooses, which must work. The others may not serve a card or type."""
TYPES = ("float32", "float16", "bfloat16")
_OLDER = {
    "MATH": "enable_math",
    "FLASH_ATTENTION": "enable_flash",
    "EFFICIENT_ATTENTION": "enable_mem_efficient",
}
"""What torch.backends.cuda.sdp_kernel calls them, before there was torch.nn.attention."""

_NONE = ("No available kernel", "No viable backend")
"""torch's words where it knows that an implementation does not serve."""
_NO_PLAN = ("No execution plans", "No valid execution plans", "No valid engine configs")
"""cuDNN's words where it does not, though torch takes it to. Harmless unless torch chooses it."""


def main() -> int:
    options = arguments(__doc__ or "", device=True).parse_args()
    with reporting(options) as report:
        torch = load_torch(report, options.device)
        if torch is not None:
            for device, where in places(torch, options.device):
                run(torch, report, device, where, quick=options.quick)
        return report.end()


def run(torch: Any, report: Reporter, device: str, where: str, *, quick: bool) -> None:
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    for kind in ("float16",) if quick else TYPES:
        dtype = getattr(torch, kind)
        rounded = [torch.randn(SHAPE).to(dtype) for _ in range(4)]
        expected = reference(torch, [t.double() for t in rounded])
        for backend in BACKENDS[:1] if quick else BACKENDS:
            chosen = backend.lower().replace("_", " ") if backend else "torch's own choice"
            with report.check(f"{kind}, {chosen}{where}") as check:
                actual = attend(torch, device, rounded, backend)
                errors = [
                    compare(got, wanted, ATTENTION[kind])
                    for got, wanted in zip(actual, expected)  # noqa: B905
                ]
                check.detail = f"error {max(errors):.1e}"


def attend(torch: Any, device: str, rounded: list[Any], backend: str | None) -> tuple[Any, ...]:
    """Result and gradients of query, key and value on the device."""
    given = [t.to(device).requires_grad_(True) for t in rounded[:3]]
    q, k, v = (t.transpose(1, 2) for t in given)
    with types_it_has(device), _only(torch, backend):
        try:
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            y = y.transpose(1, 2)
            return (y, *torch.autograd.grad(y, given, rounded[3].to(device)))
        except RuntimeError as error:
            said = str(error)
            if backend and any(words in said for words in _NONE):
                raise CheckSkipped("torch has none for this card and type") from None
            if backend and any(words in said for words in _NO_PLAN):
                raise CheckSkipped(f"it has nothing for this card and type: {said}") from None
            raise


def _only(torch: Any, backend: str | None) -> Any:
    """A context in which torch has this implementation alone."""
    if backend is None:
        return contextlib.nullcontext()
    try:
        attention: Any = import_module("torch.nn.attention")
    except ImportError:
        attention = None
    if hasattr(attention, "sdpa_kernel"):
        if hasattr(attention.SDPBackend, backend):
            return attention.sdpa_kernel(getattr(attention.SDPBackend, backend))
    elif backend in _OLDER:
        flags = {flag: name == backend for name, flag in _OLDER.items()}
        return torch.backends.cuda.sdp_kernel(**flags)
    raise CheckSkipped("this torch has no such implementation")


def reference(torch: Any, precise: list[Any]) -> tuple[Any, ...]:
    """The definition itself, in float64 on the processor."""
    given = [t.requires_grad_(True) for t in precise[:3]]
    q, k, v = (t.transpose(1, 2) for t in given)
    scores = q @ k.transpose(-2, -1) / SHAPE[3] ** 0.5
    later = torch.ones(SHAPE[1], SHAPE[1], dtype=torch.bool).triu(1)
    y = (torch.softmax(scores.masked_fill(later, float("-inf")), -1) @ v).transpose(1, 2)
    return (y.detach(), *torch.autograd.grad(y, given, precise[3]))


if __name__ == "__main__":
    sys.exit(main())
