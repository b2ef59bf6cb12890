"""Scaled-dot-product attention through torch, by each of its implementations, with gradients."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.telling import NotPossible, Telling, arguments, telling
    from stackfix.validate.kernels.torch_device import compare, load_torch
else:
    from telling import NotPossible, Telling, arguments, telling
    from torch_device import compare, load_torch

SHAPE = (2, 4, 128, 64)
"""Batch, heads, positions, width of a head: what every implementation takes."""
BACKENDS = (None, "MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION")
"""None: the one that torch chooses, which must work. The others may not serve a card or type."""
TYPES = ("float32", "float16", "bfloat16")


def main() -> int:
    options = arguments(__doc__ or "", device=True).parse_args()
    with telling(options) as tell:
        torch = load_torch(tell, options.device)
        if torch is not None:
            run(torch, tell, options.device, quick=options.quick)
        return tell.end()


def run(torch: Any, tell: Telling, device: str, *, quick: bool) -> None:
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    for kind in ("float16",) if quick else TYPES:
        dtype = getattr(torch, kind)
        rounded = [torch.randn(SHAPE).to(dtype) for _ in range(4)]
        expected = reference(torch, [t.double() for t in rounded])
        for backend in BACKENDS[:1] if quick or device == "cpu" else BACKENDS:
            chosen = backend.lower().replace("_", " ") if backend else "torch's own choice"
            with tell.check(f"{kind}, {chosen}") as told:
                actual = attend(torch, device, rounded, backend)
                errors = [
                    compare(got, wanted, kind)
                    for got, wanted in zip(actual, expected)  # noqa: B905
                ]
                told.detail = f"error {max(errors):.1e}"


def attend(torch: Any, device: str, rounded: list[Any], backend: str | None) -> tuple[Any, ...]:
    """Result and gradients of query, key and value on the device."""
    q, k, v = (t.to(device).requires_grad_(True) for t in rounded[:3])
    with _only(torch, backend):
        try:
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        except RuntimeError as error:
            if backend and "No available kernel" in str(error):
                raise NotPossible("torch has none for this card and type") from None
            raise
        return (y, *torch.autograd.grad(y, (q, k, v), rounded[3].to(device)))


def _only(torch: Any, backend: str | None) -> Any:
    if backend is None:
        return contextlib.nullcontext()
    attention = getattr(torch.nn, "attention", None)
    if attention is None or not hasattr(attention.SDPBackend, backend):
        raise NotPossible("this torch has no such implementation")
    return attention.sdpa_kernel(getattr(attention.SDPBackend, backend))


def reference(torch: Any, precise: list[Any]) -> tuple[Any, ...]:
    """The definition itself, in float64 on the processor."""
    q, k, v = (t.requires_grad_(True) for t in precise[:3])
    scores = q @ k.transpose(-2, -1) / SHAPE[-1] ** 0.5
    later = torch.ones(SHAPE[2], SHAPE[2], dtype=torch.bool).triu(1)
    y = torch.softmax(scores.masked_fill(later, float("-inf")), -1) @ v
    return (y.detach(), *torch.autograd.grad(y, (q, k, v), precise[3]))


if __name__ == "__main__":
    sys.exit(main())
