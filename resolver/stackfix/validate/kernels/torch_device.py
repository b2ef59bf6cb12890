"""The torch that a kernel proves, on the device that was asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.numerics import verdict
    from stackfix.validate.kernels.telling import Telling, Wrong
else:
    from numerics import verdict
    from telling import Telling, Wrong


def load_torch(tell: Telling, device: str, *, use: bool = True) -> Any:
    """torch, told with its build; None, told as a failed check, where it cannot use the device.

    Without `use` the device is only counted: a card may admit a single process.
    """
    torch: Any = None
    with tell.check("torch sees the device"):
        torch = import_module("torch")
        tell.fact("torch", str(torch.__version__))
        if device == "cuda":
            if torch.version.cuda is None:
                raise Wrong(f"torch {torch.__version__} is a build for the processor alone")
            if use or not torch.cuda.device_count():
                torch.zeros(1, device="cuda")  # raises with the reason why there is none
                tell.fact("card", torch.cuda.get_device_name(0))
        return torch
    return None


def compare(actual: Any, expected: Any, kind: str) -> float:
    """The error of `actual` against the float64 reference. Raises Wrong beyond the tolerance."""
    found = actual.detach().cpu().double()
    if tuple(found.shape) != tuple(expected.shape):
        raise Wrong(f"the shape is {tuple(found.shape)}, expected {tuple(expected.shape)}")
    scale = float((expected * expected).mean().item()) ** 0.5
    error = float(((found - expected).abs() / (expected.abs() + (scale or 1.0))).max().item())
    if said := verdict(error, kind):
        raise Wrong(said)
    return error
