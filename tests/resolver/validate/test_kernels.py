"""Each kernel passes where all is right, and an injected wrong result fails its stage.

torch and jax are stand-ins here; `test_numerics.py` runs the same programs with the real ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stackfix.validate.process import Limits
from stackfix.validate.python import KERNELS
from stackfix.validate.result import Outcome
from tests.resolver.validate.kernels import FAKES, run_kernel

ALL = ("conv", "attention", "nccl", "compiled", "jax_conv", "jax_collectives")
WRONG = [
    ("conv", "conv", "2-D 3×3 float32 contiguous forward"),
    ("conv", "gradient", "2-D 3×3 float32 contiguous input gradient"),
    ("attention", "attention", "float16, torch's own choice"),
    ("attention", "gradient", "float16, torch's own choice"),
    ("nccl", "all-reduce", "all-reduce, 4 B"),
    ("nccl", "all-gather", "all-gather, 4 B"),
    ("nccl", "reduce-scatter", "reduce-scatter, 4 B"),
    ("nccl", "broadcast", "broadcast, 4 B"),
    ("nccl", "checkpoint", "a checkpoint saved and loaded"),
    ("compiled", "compile", "a pointwise function and a sum, float32"),
    ("jax_conv", "conv", "2-D 3×3 float16, forward and gradients"),
    ("jax_conv", "gradient", "2-D 3×3 float16, forward and gradients"),
    ("jax_collectives", "psum", "psum, 4 bytes"),
    ("jax_collectives", "all_gather", "all_gather, 4 bytes"),
]


@pytest.mark.parametrize("name", ALL)
def test_a_kernel_passes_where_all_is_right(name: str, tmp_path: Path) -> None:
    result = run_kernel(name, tmp_path)
    assert result.outcome is Outcome.PASSED, (result.reason, result.log)
    assert not result.log


@pytest.mark.parametrize(("name", "what", "check"), WRONG)
def test_a_wrong_result_fails_its_stage(name: str, what: str, check: str, tmp_path: Path) -> None:
    result = run_kernel(name, tmp_path, "--quick", env={"FAKE": f"wrong:{what}"})
    assert result.outcome is Outcome.FAILED
    failed = [one for one in result.checks if one.outcome is Outcome.FAILED]
    assert check in [one.name for one in failed]
    assert "tolerance" in failed[0].detail or "wrong" in failed[0].detail


@pytest.mark.parametrize(
    ("name", "what"), [("conv", "conv"), ("compiled", "compile"), ("jax_conv", "conv")]
)
def test_a_result_that_is_not_a_number_fails(name: str, what: str, tmp_path: Path) -> None:
    result = run_kernel(name, tmp_path, "--quick", env={"FAKE": f"nan:{what}"})
    assert result.outcome is Outcome.FAILED
    assert "not a number" in result.reason


@pytest.mark.parametrize("name", ALL)
def test_a_framework_without_code_for_cards_fails(name: str, tmp_path: Path) -> None:
    result = run_kernel(name, tmp_path, "--quick", env={"FAKE": "cpu"})
    assert result.outcome is Outcome.FAILED
    assert "sees the device" in result.reason


def test_an_exception_is_told_and_the_other_checks_go_on(tmp_path: Path) -> None:
    result = run_kernel("conv", tmp_path, env={"FAKE": "raise:gradient"})
    assert result.outcome is Outcome.FAILED
    assert "CUDNN_STATUS_EXECUTION_FAILED" in result.reason
    assert "Traceback" in result.log
    names = [check.name for check in result.checks]
    assert "3-D 3×3×3 bfloat16 channels-last weight gradient" in names


def test_a_crash_names_the_check_that_it_happened_in(tmp_path: Path) -> None:
    result = run_kernel("conv", tmp_path, env={"FAKE": "crash:conv"})
    assert result.outcome is Outcome.FAILED
    assert result.ending is not None
    assert result.ending.signal == "SIGSEGV"
    assert "2-D 3×3 float32 contiguous forward" in result.reason


def test_a_hang_ends_at_the_limit_and_names_the_check(tmp_path: Path) -> None:
    limits = Limits(seconds=2, memory=1 << 30)
    result = run_kernel("compiled", tmp_path, env={"FAKE": "hang:compile"}, limits=limits)
    assert result.ending is not None
    assert result.ending.limit == "time"
    assert result.reason.startswith("hung: not done after 2 s")
    assert "a pointwise function" in result.reason


def test_a_rank_that_crashes_fails_the_collectives(tmp_path: Path) -> None:
    env = {"FAKE": "crash:rank 1", "FAKE_CARDS": "2"}
    result = run_kernel("nccl", tmp_path, "--quick", env=env)
    assert result.outcome is Outcome.FAILED
    details = {check.name: check.detail for check in result.checks}
    assert "rank 1: began and never ended" in details["the ranks find each other"]
    assert details["rank 1 ends"] == "its process ended with code -11"


def test_two_cards_are_two_ranks(tmp_path: Path) -> None:
    result = run_kernel("nccl", tmp_path, "--quick", env={"FAKE_CARDS": "2"})
    assert result.outcome is Outcome.PASSED, result.reason
    assert result.facts["ranks"] == 2
    assert all(check.outcome is Outcome.PASSED for check in result.checks)


def test_one_card_says_that_nothing_crossed_between_cards(tmp_path: Path) -> None:
    result = run_kernel("nccl", tmp_path, "--quick")
    between = next(check for check in result.checks if check.name == "between cards")
    assert between.outcome is Outcome.SKIPPED


def test_messages_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    result = run_kernel("nccl", tmp_path, env={"FAKE_FREE": str(64 << 20)})
    skipped = [check.name for check in result.checks if check.outcome is Outcome.SKIPPED]
    assert "all-reduce, 256 MiB" in skipped
    assert "all-reduce, 1 MiB" not in skipped


def test_a_kernel_runs_alone_and_prints_json_lines() -> None:
    run = subprocess.run(
        [sys.executable, str(KERNELS / "conv.py"), "--json", "--quick"],
        env={"PYTHONPATH": str(FAKES), "FAKE": "wrong:conv"},
        capture_output=True,
        text=True,
        check=False,
    )
    told = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 1
    assert told[-1] == {"event": "end"}
    assert any(line["event"] == "failed" for line in told)


def test_a_kernel_runs_alone_and_prints_text() -> None:
    run = subprocess.run(
        [sys.executable, str(KERNELS / "compiled.py")],
        env={"PYTHONPATH": str(FAKES)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0
    assert "passed: a pointwise function and a sum, float32 (error" in run.stdout


def test_a_module_beside_the_kernels_hides_no_package(tmp_path: Path) -> None:
    package = tmp_path / "numerics"
    package.mkdir()
    (package / "__init__.py").write_text("__version__ = '1.2.3'\n")
    env = {"PYTHONPATH": str(tmp_path)}
    result = run_kernel("imports", tmp_path, "--module", "numerics", env=env)
    assert result.outcome is Outcome.PASSED
    assert "1.2.3" in result.checks[0].detail
