"""As much of torch as the kernels use, on the first numbers of each tensor."""

from __future__ import annotations

import json
import math
import os
import random
from contextlib import nullcontext
from types import SimpleNamespace

from few import Few, randoms, spoilt, wrong

from . import nn as nn

__version__ = "9.9.9"
wrong("import torch")
version = SimpleNamespace(cuda=None if os.environ.get("FAKE") == "cpu" else "12.8")
float64, float32, float16, bfloat16 = "float64", "float32", "float16", "bfloat16"
int32, int64, bool = "int32", "int64", "bool"
contiguous_format = channels_last = channels_last_3d = None
backends = SimpleNamespace(
    cudnn=SimpleNamespace(is_available=lambda: True, version=lambda: 90501, allow_tf32=False),
    cuda=SimpleNamespace(
        matmul=SimpleNamespace(allow_tf32=False),
        sdp_kernel=lambda enable_math, enable_flash, enable_mem_efficient: nullcontext(),
    ),
)


_current = [0]


def _capability(place):
    """ "8.0,7.5" makes each card another."""
    given = os.environ.get("FAKE_CAPABILITIES", "9.0").split(",")
    number = int(str(place).rpartition(":")[2])
    return tuple(int(part) for part in given[min(number, len(given) - 1)].split("."))


def _select_conv_backend(x, w, bias, stride, padding, dilation, transposed, output_padding, groups):
    """FAKE_ROUTE "bfloat16=Slow2d" sends those past cuDNN; older cards' bfloat16 always goes."""
    if x.dtype == "bfloat16" and _capability(f"current:{_current[-1]}") < (8, 0):
        return "_ConvBackend.Slow2d"
    kind, _, backend = os.environ.get("FAKE_ROUTE", "").partition("=")
    return f"_ConvBackend.{backend if x.dtype == kind or kind == 'all' else 'Cudnn'}"


_C = SimpleNamespace(
    _select_conv_backend=_select_conv_backend,
    _cuda_getDeviceCount=lambda: int(os.environ.get("FAKE_CARDS", "1")),
)
cuda = SimpleNamespace(
    get_device_name=lambda number: "Card {}.{}".format(*_capability(number)),
    get_device_capability=_capability,
    synchronize=lambda: None,
    empty_cache=lambda: None,
    device_count=lambda: 16,  # NVML's: also what CUDA does not show
    set_device=_current.append,
    mem_get_info=lambda: (int(os.environ.get("FAKE_FREE", 1 << 40)), 1 << 40),
)


class Tensor(Few):
    dtype = "float32"

    def like(self, values, shape=None):
        new = Tensor(self.shape if shape is None else shape, values, self.device)
        new.dtype = self.dtype
        return new

    def to(self, *args, device=None, dtype=None):
        given = [str(arg) for arg in (*args, device, dtype) if arg is not None]
        new = self.like(self.values)
        for arg in given:
            if arg.startswith(("cuda", "cpu")):
                new.device = arg
            else:
                new.dtype = arg
        return new

    def cpu(self):
        return self.to("cpu")

    def _same(self, *args, **kwargs):
        return self

    double = detach = requires_grad_ = contiguous = masked_fill = triu = _same

    def transpose(self, one, other):
        shape = list(self.shape)
        shape[one], shape[other] = shape[other], shape[one]
        return self.like(self.values, shape)

    def __matmul__(self, other):
        return self.like(other.values, other.shape)

    def sum(self, axis=None):
        if axis is None:
            return self.like([sum(self.values)], ())
        return self.like(self.values, self.shape[:-1])


def _tensor(few, device="cpu"):
    return Tensor(few.shape, few.values, device)


def manual_seed(number):
    random.seed(number)


def randn(*shape):
    return _tensor(randoms(shape[0] if isinstance(shape[0], tuple) else shape))


def zeros(*shape, device="cpu"):
    if str(device).startswith("cuda"):
        wrong("card")
    return Tensor(shape, [0.0] * 8, device)


def ones(*shape, dtype=None):
    return Tensor(shape, [1.0] * 8)


def tensor(values, dtype, device):
    return Tensor((len(values),), values, device)


def arange(count, dtype=None, device="cpu"):
    return Tensor((count,), range(min(count, 8)), device)


def equal(a, b):
    return a.shape == b.shape and a.values == b.values


def sin(x):
    return x.like(map(math.sin, x.values))


def exp(x):
    return x.like(map(math.exp, x.values))


def softmax(x, axis):
    return x


def compile(function, fullgraph):
    if said := os.environ.get("FAKE_COMPILER"):
        raise RuntimeError(said)
    return lambda *args: spoilt(function(*args), "compile")


def save(state, file):
    kept = {**state, "weight": [state["weight"].shape, state["weight"].values]}
    with open(file, "w") as opened:
        json.dump(kept, opened)


def load(file, map_location):
    with open(file) as opened:
        state = json.load(opened)
    shape, values = state["weight"]
    weight = spoilt(Tensor(shape, values, map_location), "checkpoint")
    return {**state, "weight": weight}


def _grad(y, inputs, grown):
    several = inputs if isinstance(inputs, (list, tuple)) else (inputs,)
    return tuple(
        spoilt(x * 0.5 + grown.mean().item(), "gradient")
        if x.device.startswith("cuda")
        else x * 0.5 + grown.mean().item()
        for x in several
    )


autograd = SimpleNamespace(grad=_grad)
