"""Convolution and attention: results that depend on what comes in, and on the device if asked."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

from few import spoilt


def _convolve(x, w, stride, padding):
    kernel = w.shape[2:]
    space = [(s + 2 * padding - k) // stride + 1 for s, k in zip(x.shape[2:], kernel, strict=True)]
    shape = (x.shape[0], w.shape[0], *space)
    y = x.like([a * 2 + w.values[0] for a in x.values], shape)
    return spoilt(y, "conv") if x.device == "cuda" else y


def _attend(q, k, v, is_causal):
    return spoilt(v, "attention") if q.device == "cuda" else v


functional = SimpleNamespace(
    conv2d=_convolve, conv3d=_convolve, scaled_dot_product_attention=_attend
)
attention = SimpleNamespace(
    SDPBackend=SimpleNamespace(MATH=1, FLASH_ATTENTION=2),
    sdpa_kernel=lambda backend: contextlib.nullcontext(),
)
