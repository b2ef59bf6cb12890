"""The kernels' own arithmetic, with the real torch and jax on the processor.

Skipped where they are not installed: set STACKFIX_TEST_TORCH to a Python that has both. Nothing
here says anything about cuDNN or NCCL.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stackfix.validate.process import Limits
from stackfix.validate.result import Outcome
from tests.resolver.validate.kernels import run_kernel

PYTHON = os.environ.get("STACKFIX_TEST_TORCH", sys.executable)
LIMITS = Limits(seconds=300, memory=8 << 30)
PERTURBED = """\
import importlib.abc, importlib.util, sys

class Loader(importlib.abc.Loader):
    def __init__(self, inner):
        self.inner = inner
    def create_module(self, spec):
        return self.inner.create_module(spec)
    def exec_module(self, module):
        self.inner.exec_module(module)
        import torch.nn.functional as functional
        right = functional.conv2d
        def conv2d(x, *args, **kwargs):
            y = right(x, *args, **kwargs)
            if x.dtype is not module.float64:
                y = y.clone()
                y[(0,) * y.ndim] += 10
            return y
        functional.conv2d = conv2d

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        spec.loader = Loader(spec.loader)
        return spec

sys.meta_path.insert(0, Finder())
"""


def _has(module: str) -> bool:
    run = subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False)
    return run.returncode == 0


torch = pytest.mark.skipif(not _has("torch"), reason="torch is not installed")
jax = pytest.mark.skipif(not _has("jax"), reason="jax is not installed")


def _run(name: str, folder: Path, *arguments: str, **env: str) -> None:
    result = run_kernel(
        name,
        folder,
        "--device",
        "cpu",
        *arguments,
        python=PYTHON,
        fakes=False,
        limits=LIMITS,
        env=env,
    )
    assert result.outcome is Outcome.PASSED, (result.reason, result.log)
    assert not any("off by" in check.detail for check in result.checks)


@torch
@pytest.mark.parametrize("name", ["conv", "attention"])
def test_torch_on_the_processor_is_within_the_tolerances(name: str, tmp_path: Path) -> None:
    _run(name, tmp_path)


@torch
def test_two_ranks_over_gloo_exchange_the_right_values(tmp_path: Path) -> None:
    _run("nccl", tmp_path, "--ranks", "2", "--most", str(1 << 20))


@torch
@pytest.mark.slow
def test_a_compiled_function_is_right(tmp_path: Path) -> None:
    _run("compiled", tmp_path)


@torch
def test_one_wrong_element_of_a_real_tensor_fails(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(PERTURBED)
    result = run_kernel(
        "conv",
        tmp_path,
        "--device",
        "cpu",
        "--quick",
        python=PYTHON,
        fakes=False,
        limits=LIMITS,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert result.outcome is Outcome.FAILED
    failed = {check.name for check in result.checks if check.outcome is Outcome.FAILED}
    assert failed == {
        f"2-D 3×3 {kind} {layout} forward"
        for kind in ("float32", "float16", "bfloat16")
        for layout in ("contiguous", "channels-last")
    }


@jax
def test_jax_on_the_processor_is_within_the_tolerances(tmp_path: Path) -> None:
    _run("jax_conv", tmp_path)


@jax
def test_three_devices_of_jax_exchange_the_right_values(tmp_path: Path) -> None:
    _run(
        "jax_collectives",
        tmp_path,
        "--quick",
        XLA_FLAGS="--xla_force_host_platform_device_count=3",
    )
