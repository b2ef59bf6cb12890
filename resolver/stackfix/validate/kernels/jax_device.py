"""The jax that a kernel proves, on the device that was asked for."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackfix.validate.kernels.numerics import verdict
    from stackfix.validate.kernels.telling import Telling, Wrong
else:
    from numerics import verdict
    from telling import Telling, Wrong


def load_jax(tell: Telling, device: str) -> tuple[Any, Any]:
    """jax and its devices of that kind; (None, None), told as a failed check, without any."""
    with tell.condition("jax sees the device") as told:
        # Named ones have to be there: jax falls back to the processor only where none is named.
        # Both, whatever the environment says: the reference is computed on the processor.
        os.environ["JAX_PLATFORMS"] = "cuda,cpu" if device == "cuda" else "cpu"
        jax: Any = import_module("jax")
        jax.config.update("jax_enable_x64", True)  # for the reference
        tell.fact("jax", str(jax.__version__))
        devices = jax.local_devices(backend="gpu" if device == "cuda" else "cpu")
        told.detail = ", ".join(str(one) for one in devices[:8])
        return jax, devices
    return None, None


def kinds(devices: Any) -> list[tuple[Any, str]]:
    """One device of each kind, and what to add to the names of its checks."""
    found: dict[str, Any] = {}
    for device in devices:
        found.setdefault(str(device.device_kind), device)
    return [(device, f", {kind}" if len(found) > 1 else "") for kind, device in found.items()]


def compare(numpy: Any, actual: Any, expected: Any, tolerance: float) -> float:
    """The error of `actual` against the float64 reference. Raises Wrong beyond the tolerance."""
    found, wanted = (numpy.asarray(array).astype("float64") for array in (actual, expected))
    if found.shape != wanted.shape:
        raise Wrong(f"the shape is {found.shape}, expected {wanted.shape}")
    scale = float((wanted * wanted).mean()) ** 0.5
    error = float((abs(found - wanted) / (abs(wanted) + (scale or 1.0))).max())
    if said := verdict(error, tolerance):
        raise Wrong(said)
    return error
