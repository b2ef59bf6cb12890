"""Arrays of any shape that hold only their first eight numbers: enough to be right or wrong."""

from __future__ import annotations

import math
import os
import random
import signal
import time

MOST = 8


def volume(shape):
    return math.prod(shape)


class Few:
    """Stands for a tensor of torch and for an array of numpy or jax."""

    def __init__(self, shape, values, device="cpu"):
        self.shape = tuple(shape)
        self.values = [float(value) for value in values][: max(1, min(MOST, volume(self.shape)))]
        self.device = str(device)

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return volume(self.shape)

    def like(self, values, shape=None):
        return Few(self.shape if shape is None else shape, values, self.device)

    def _with(self, other, act):
        if isinstance(other, Few):
            return self.like(map(act, self.values, other.values))
        return self.like(act(value, other) for value in self.values)

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b)

    def __mod__(self, other):
        return self._with(other, lambda a, b: a % b)

    def __ne__(self, other):
        return self._with(other, lambda a, b: float(a != b))

    __hash__ = None

    def __neg__(self):
        return self * -1

    def __abs__(self):
        return self.like(map(abs, self.values))

    def abs(self):
        return abs(self)

    def __float__(self):
        return self.values[0]

    def __int__(self):
        return int(self.values[0])

    def item(self):
        return self.values[0]

    def max(self):
        worst = [value for value in self.values if math.isnan(value)] or [max(self.values)]
        return self.like(worst, ())

    def mean(self):
        return self.like([sum(self.values) / len(self.values)], ())

    def numel(self):
        return self.size


def randoms(shape):
    return Few(shape, [random.gauss(0, 1) for _ in range(MOST)])


def wrong(what):
    """Whether the test wants this to be wrong; crashes and hangs happen here."""
    kind, _, where = os.environ.get("FAKE", "").partition(":")
    if where != what:
        return None
    if kind == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "hang":
        time.sleep(600)
    if kind == "hoard":
        hoarded = [bytearray(32 << 20) for _ in range(64)]
        time.sleep(600)
        del hoarded
    if kind == "raise":
        raise RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED")
    return kind


def spoilt(array, what):
    """The array as the test wants it: right, or with one wrong number, or with a NaN.

    FAKE_ON names the only device that is wrong.
    """
    if os.environ.get("FAKE_ON", array.device) != array.device:
        return array
    kind = wrong(what)
    if kind == "wrong":
        return array.like([array.values[0] + 5.0, *array.values[1:]])
    if kind == "nan":
        return array.like([math.nan, *array.values[1:]])
    return array
