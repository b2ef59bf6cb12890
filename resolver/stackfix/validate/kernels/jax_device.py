"""The jax that a kernel proves, on the device that was asked for."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.numerics import verdict
    from stackfix.validate.kernels.reporting import CheckFailed, Reporter
else:
    from numerics import verdict
    from reporting import CheckFailed, Reporter


def load_jax(report: Reporter, device: str) -> tuple[Any, Any]:
    """jax and its devices of that kind; (None, None), told as a failed check, without any."""
    with report.condition("jax sees the device") as check:
        # Named ones have to be there: jax falls back to the processor only where none is named.
        # Both, whatever the environment says: the reference is computed on the processor.
        os.environ["JAX_PLATFORMS"] = "cuda,cpu" if device == "cuda" else "cpu"
        jax: Any = import_module("jax")
        jax.config.update("jax_enable_x64", True)  # for the reference
        report.fact("jax", str(jax.__version__))
        devices = jax.local_devices(backend="gpu" if device == "cuda" else "cpu")
        check.detail = ", ".join(str(one) for one in devices[:8])
        return jax, devices
    return None, None


def kinds(devices: Any) -> list[tuple[Any, str]]:
    """One device of each kind, and what to add to the names of its checks."""
    found: dict[str, Any] = {}
    for device in devices:
        found.setdefault(str(device.device_kind), device)
    return [(device, f", {kind}" if len(found) > 1 else "") for kind, device in found.items()]


def compare(numpy: Any, actual: Any, expected: Any, tolerance: float) -> float:
    """The error of `actual` against the float64 reference; CheckFailed beyond the tolerance."""
    found, wanted = (numpy.asarray(array).astype("float64") for array in (actual, expected))
    if found.shape != wanted.shape:
        raise CheckFailed(f"the shape is {found.shape}, expected {wanted.shape}")
    scale = float((wanted * wanted).mean()) ** 0.5
    error = float((abs(found - wanted) / (abs(wanted) + (scale or 1.0))).max())
    if said := verdict(error, tolerance):
        raise CheckFailed(said)
    return error
