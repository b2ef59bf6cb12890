"""As much of jax as the kernels use; one device of each kind."""

from __future__ import annotations

import os
from types import SimpleNamespace

from few import spoilt, wrong

__version__ = "8.8.8"
wrong("import jax")
config = SimpleNamespace(update=lambda key, value: None)
numpy = SimpleNamespace(dtype=lambda kind: kind)


class Device(str):
    """ "gpu:0", of some kind."""

    device_kind = "Card of a test"


def local_devices(backend):
    if backend == "gpu" and os.environ.get("FAKE") == "cpu":
        raise RuntimeError("Unknown backend: 'gpu' requested, but no platforms are present")
    kinds = os.environ.get("FAKE_KINDS", "one").split(",") if backend == "gpu" else ["cpu"]
    devices = [Device(f"{backend}:{number}") for number in range(len(kinds))]
    for device, kind in zip(devices, kinds, strict=True):
        device.device_kind = kind
    return devices


def device_put(array, device):
    found = array.like(array.values)
    found.device = device
    return found


def jit(function):
    return function


def vjp(function, *inputs):
    def backward(grown):
        return tuple(_placed(x * 0.5 + grown.mean().item(), x, "gradient") for x in inputs)

    return function(*inputs), backward


def _placed(array, source, what):
    return spoilt(array, what) if source.device.startswith("gpu") else array


def _convolve(x, w, strides, padding, precision):
    shape = (x.shape[0], w.shape[0], *x.shape[2:])
    return _placed(x.like([a * 2 + w.values[0] for a in x.values], shape), x, "conv")


def pmap(function, axis_name, devices):
    def run(rows):
        result = function(rows)
        result.addressable_shards = [SimpleNamespace(data=result, device=devices[0])]
        return result

    return run


lax = SimpleNamespace(
    Precision=SimpleNamespace(HIGHEST=1),
    conv_general_dilated=_convolve,
    psum=lambda x, axis: spoilt(x, "psum"),
    all_gather=lambda x, axis: spoilt(x.like(x.values, (1, *x.shape)), "all_gather"),
)
