"""Convolution and attention: results that depend on what comes in, and on the device if asked."""

from __future__ import annotations

import os
from types import SimpleNamespace

from few import spoilt

only = []
"""The implementation of attention that was asked for."""


def _convolve(x, w, stride, padding):
    kernel = w.shape[2:]
    space = [(s + 2 * padding - k) // stride + 1 for s, k in zip(x.shape[2:], kernel, strict=True)]
    shape = (x.shape[0], w.shape[0], *space)
    y = x.like([a * 2 + w.values[0] for a in x.values], shape)
    return spoilt(y, "conv") if x.device.startswith("cuda") else y


def _attend(q, k, v, is_causal):
    if (only or ["own"])[-1] in os.environ.get("FAKE_NO_ATTENTION", "").split(","):
        raise RuntimeError(os.environ.get("FAKE_WORDS", "No available kernel. Aborting execution."))
    return spoilt(v, "attention") if q.device.startswith("cuda") else v


functional = SimpleNamespace(
    conv2d=_convolve, conv3d=_convolve, scaled_dot_product_attention=_attend
)
