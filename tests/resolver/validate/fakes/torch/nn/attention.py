"""As torch has it since it has sdpa_kernel; FAKE_OLD is a torch from before."""

from __future__ import annotations

import contextlib
import os
from types import SimpleNamespace

from torch.nn import only

if os.environ.get("FAKE_OLD"):
    raise ImportError("No module named 'torch.nn.attention'")

SDPBackend = SimpleNamespace(MATH="math", FLASH_ATTENTION="flash", CUDNN_ATTENTION="cudnn")


@contextlib.contextmanager
def sdpa_kernel(backend):
    only.append(backend)
    try:
        yield
    finally:
        only.pop()
