"""The kernels themselves, with the real torch and jax on the processor.

Nothing here says anything about cuDNN or NCCL: it shows that the programs use the frameworks as
they are, that right results are within the tolerances, and that wrong ones are not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.validate.process import ProcessLimits
from stackfix.validate.result import Outcome, StageResult
from tests.resolver.validate.kernels import run_kernel

pytestmark = pytest.mark.network
LIMITS = ProcessLimits(seconds=300, memory=8 << 30)
ON_IMPORT = """\
import importlib.abc, importlib.util, sys

class Loader(importlib.abc.Loader):
    def __init__(self, inner):
        self.inner = inner
    def create_module(self, spec):
        return self.inner.create_module(spec)
    def exec_module(self, module):
        self.inner.exec_module(module)
        change(module)

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        spec.loader = Loader(spec.loader)
        return spec

sys.meta_path.insert(0, Finder())
"""
WRONG_CONVOLUTION = """\
MODULE = "torch"
def change(torch):
    import torch.nn.functional as functional
    right = functional.conv2d
    def conv2d(x, *args, **kwargs):
        y = right(x, *args, **kwargs)
        if x.dtype is not torch.float64 and not x.requires_grad:
            y = y.clone()
            y[(0,) * y.ndim] += 10
        return y
    functional.conv2d = conv2d
"""
WRONG_CONVOLUTION_OF_JAX = """\
MODULE = "jax"
def change(jax):
    right = jax.lax.conv_general_dilated
    def convolve(x, *args, **kwargs):
        y = right(x, *args, **kwargs)
        return y if x.dtype == jax.numpy.float64 else y.at[0, 0, 0, 0].add(10)
    jax.lax.conv_general_dilated = convolve
"""
DYING_RANK = """\
MODULE = "torch.distributed"
def change(dist):
    import os, signal
    right = dist.all_gather
    def all_gather(*args, **kwargs):
        if dist.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return right(*args, **kwargs)
    dist.all_gather = all_gather
"""


def _run(python: str, name: str, folder: Path, *arguments: str, **env: str) -> StageResult:
    return run_kernel(name, folder, *arguments, python=python, fakes=False, limits=LIMITS, env=env)


def _changed(python: str, change: str, name: str, folder: Path, *arguments: str) -> StageResult:
    """What the kernel finds in a framework that is changed as it is imported."""
    (folder / "sitecustomize.py").write_text(change + ON_IMPORT)
    return _run(
        python, name, folder, "--device", "cpu", "--quick", *arguments, PYTHONPATH=str(folder)
    )


def _outcomes(result: StageResult) -> dict[str, Outcome]:
    return {check.name: check.outcome for check in result.checks}


def _failed(result: StageResult) -> dict[str, str]:
    return {check.name: check.detail for check in result.checks if check.outcome is Outcome.FAILED}


def test_torchs_convolutions_are_within_the_tolerances(real_python: str, tmp_path: Path) -> None:
    result = _run(real_python, "conv", tmp_path, "--device", "cpu")
    assert result.outcome is Outcome.PASSED, (result.reason, result.log)
    assert _outcomes(result)["3-D 3×3×3 bfloat16 channels-last weight gradient"] is Outcome.PASSED


def test_torchs_attention_is_within_the_tolerances_by_each_implementation(
    real_python: str, tmp_path: Path
) -> None:
    result = _run(real_python, "attention", tmp_path, "--device", "cpu")
    assert result.outcome is Outcome.PASSED, (result.reason, result.log)
    found = _outcomes(result)
    for kind in ("float32", "bfloat16"):
        assert found[f"{kind}, torch's own choice"] is Outcome.PASSED
        assert found[f"{kind}, math"] is Outcome.PASSED
        assert found[f"{kind}, flash attention"] is Outcome.PASSED
        assert found[f"{kind}, efficient attention"] is Outcome.SKIPPED
        assert found[f"{kind}, cudnn attention"] is Outcome.SKIPPED


def test_three_ranks_over_gloo_exchange_the_right_values(real_python: str, tmp_path: Path) -> None:
    most = str(1 << 20)
    result = _run(real_python, "nccl", tmp_path, "--device", "cpu", "--ranks", "3", "--most", most)
    assert result.outcome is Outcome.PASSED, (result.reason, result.log)
    assert _outcomes(result)["a checkpoint saved and loaded"] is Outcome.PASSED


def test_a_rank_that_dies_ends_the_others_soon(real_python: str, tmp_path: Path) -> None:
    result = _changed(real_python, DYING_RANK, "nccl", tmp_path, "--ranks", "2")
    failed = _failed(result)
    assert "rank 1: began and never ended" in failed["all-gather, 4 B"]
    assert failed["rank 1 ends"] == "its process ended with code -9"
    assert result.ending is not None
    assert result.ending.limit is None


def test_a_compiled_function_is_right(real_python: str, tmp_path: Path) -> None:
    result = _run(real_python, "compiled", tmp_path, "--device", "cpu")
    assert result.outcome is Outcome.PASSED, (result.reason, result.log)


def test_one_wrong_element_of_a_real_tensor_fails(real_python: str, tmp_path: Path) -> None:
    result = _changed(real_python, WRONG_CONVOLUTION, "conv", tmp_path)
    forward = {
        check.name
        for check in result.checks
        if check.name.endswith("forward") and check.outcome is not Outcome.SKIPPED
    }
    assert len(forward) >= 4
    assert set(_failed(result)) == forward


def test_jaxs_convolutions_are_within_the_tolerances(real_python: str, tmp_path: Path) -> None:
    result = _run(real_python, "jax_conv", tmp_path, "--device", "cpu")
    assert result.outcome is Outcome.PASSED, (result.reason, result.log)
    assert _outcomes(result)["3-D 3×3×3 bfloat16 weight gradient"] is Outcome.PASSED


def test_one_wrong_element_of_a_real_array_fails(real_python: str, tmp_path: Path) -> None:
    result = _changed(real_python, WRONG_CONVOLUTION_OF_JAX, "jax_conv", tmp_path)
    assert list(_failed(result)) == ["2-D 3×3 float16 forward"]


def test_three_devices_of_jax_exchange_the_right_values(real_python: str, tmp_path: Path) -> None:
    flags = "--xla_force_host_platform_device_count=3"
    result = _run(
        real_python, "jax_collectives", tmp_path, "--device", "cpu", "--quick", XLA_FLAGS=flags
    )
    assert result.outcome is Outcome.PASSED, (result.reason, result.log)
    assert result.facts["devices"] == 3


@pytest.mark.parametrize("name", ["conv", "nccl", "jax_conv"])
def test_without_a_card_nothing_passes_on_the_processor_instead(
    name: str, real_python: str, tmp_path: Path
) -> None:
    result = _run(real_python, name, tmp_path, "--quick", CUDA_VISIBLE_DEVICES="")
    assert result.outcome is Outcome.FAILED
    assert "sees the device" in result.reason
    assert len(result.checks) == 1
