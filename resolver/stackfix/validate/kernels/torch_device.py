"""The torch that a kernel proves, on the device that was asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.numerics import verdict
    from stackfix.validate.kernels.reporting import CheckFailed, CheckSkipped, Reporter
else:
    from numerics import verdict
    from reporting import CheckFailed, CheckSkipped, Reporter


def load_torch(report: Reporter, device: str, *, use: bool = True) -> Any:
    """torch, told with its build; None, told as a failed check, where it cannot use the device.

    Without `use` the cards are only counted: one may admit a single process.
    """
    torch: Any = None
    with report.condition("torch sees the device"):
        torch = import_module("torch")
        report.fact("torch", str(torch.__version__))
        if device == "cuda":
            if torch.version.cuda is None:
                raise CheckFailed(f"torch {torch.__version__} is a build for the processor alone")
            if not cards(torch):
                torch.zeros(1, device="cuda")  # raises with the reason why there is none
                raise CheckFailed("torch counts no card")
            if use:
                # The first alone: what another kind of card cannot do fails its own checks.
                torch.zeros(1, device="cuda").cpu()
                report.fact("card", ", ".join(name for name, _ in kinds(torch)))
        return torch
    return None


def cards(torch: Any) -> int:
    """How many cards CUDA shows to a program; makes no context on any.

    torch.cuda.device_count asks NVML, which also counts cards split by MIG that CUDA leaves out.
    """
    return int(torch._C._cuda_getDeviceCount())


def kinds(torch: Any) -> dict[tuple[str, tuple[int, int]], int]:
    """Name and compute capability of each kind of visible card -> the number of the first one."""
    found: dict[tuple[str, tuple[int, int]], int] = {}
    for number in range(cards(torch)):
        kind = (
            torch.cuda.get_device_name(number),
            tuple(torch.cuda.get_device_capability(number)),
        )
        found.setdefault(kind, number)
    return found


def places(torch: Any, device: str) -> Iterator[tuple[str, str]]:
    """One device of each kind that is visible, and what to add to the names of its checks.

    Cards that are alike run the same code. Where they differ, each kind has its own. The one that
    is given is torch's current one: what torch decides by a card, it decides by that.
    """
    if device == "cpu":
        yield "cpu", ""
        return
    found = kinds(torch)
    for (name, _), number in found.items():
        torch.cuda.set_device(number)
        yield f"cuda:{number}", f", {name}" if len(found) > 1 else ""


@contextlib.contextmanager
def types_it_has(device: str) -> Iterator[None]:
    """Older torches compute some types on cards alone; there, everything has to be there."""
    try:
        yield
    except RuntimeError as error:
        if device == "cpu" and "not implemented for" in str(error):
            raise CheckSkipped("this torch cannot compute it on the processor") from None
        raise


def compare(actual: Any, expected: Any, tolerance: float) -> float:
    """The error of `actual` against the float64 reference; CheckFailed beyond the tolerance.

    Waits for the device: what fails there later than its call fails here.
    """
    found = actual.detach().cpu().double()
    if tuple(found.shape) != tuple(expected.shape):
        raise CheckFailed(f"the shape is {tuple(found.shape)}, expected {tuple(expected.shape)}")
    scale = float((expected * expected).mean().item()) ** 0.5
    error = float(((found - expected).abs() / (expected.abs() + (scale or 1.0))).max().item())
    if said := verdict(error, tolerance):
        raise CheckFailed(said)
    return error
