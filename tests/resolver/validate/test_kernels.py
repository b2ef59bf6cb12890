"""Each kernel passes where all is right, and an injected wrong result fails its stage.

torch and jax are stand-ins here; `test_numerics.py` runs the same programs with the real ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stackfix.validate.process import ProcessLimits
from stackfix.validate.python import KERNELS
from stackfix.validate.result import Outcome, StageResult
from tests.resolver.validate.kernels import FAKES, run_kernel
from tests.resolver.validate.libraries import build_part, needs_compiler

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
    ("conv", "gradient", "2-D 3×3 float32 contiguous weight gradient"),
    ("jax_conv", "conv", "2-D 3×3 float16 forward"),
    ("jax_conv", "gradient", "2-D 3×3 float16 input gradient"),
    ("jax_conv", "gradient", "2-D 3×3 float16 weight gradient"),
    ("jax_collectives", "psum", "psum, 4 bytes"),
    ("jax_collectives", "all_gather", "all_gather, 4 bytes"),
]


def outcomes(result: StageResult, which: Outcome) -> dict[str, str]:
    """The checks that ended so, with their details."""
    return {check.name: check.detail for check in result.checks if check.outcome is which}


@pytest.mark.parametrize("name", ALL)
def test_a_kernel_passes_where_all_is_right(name: str, tmp_path: Path) -> None:
    result = run_kernel(name, tmp_path)
    assert result.outcome is Outcome.PASSED, (result.reason, result.log)
    assert not result.log
    assert any(check.outcome is Outcome.PASSED for check in result.checks)


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


def test_what_fails_in_a_gradient_is_not_told_of_the_result(tmp_path: Path) -> None:
    for name in ("conv", "jax_conv"):
        result = run_kernel(name, tmp_path, "--quick", env={"FAKE": "wrong:gradient"})
        assert outcomes(result, Outcome.PASSED)
        assert not [check for check in outcomes(result, Outcome.FAILED) if "forward" in check]


def test_a_crash_names_the_check_that_it_happened_in(tmp_path: Path) -> None:
    result = run_kernel("conv", tmp_path, env={"FAKE": "crash:conv"})
    assert result.outcome is Outcome.FAILED
    assert result.ending is not None
    assert result.ending.signal == "SIGSEGV"
    assert "2-D 3×3 float32 contiguous forward" in result.reason


def test_a_hang_ends_at_the_limit_and_names_the_check(tmp_path: Path) -> None:
    limits = ProcessLimits(seconds=2, memory=1 << 30)
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


def test_cards_that_cuda_does_not_show_are_no_ranks(tmp_path: Path) -> None:
    """NVML counts both halves of a machine whose cards are split by MIG, CUDA shows one slice."""
    result = run_kernel("nccl", tmp_path, "--quick")
    assert result.facts["ranks"] == 1
    assert result.outcome is Outcome.PASSED, result.reason


def test_one_card_says_that_nothing_crossed_between_cards(tmp_path: Path) -> None:
    result = run_kernel("nccl", tmp_path, "--quick")
    between = next(check for check in result.checks if check.name == "between cards")
    assert between.outcome is Outcome.SKIPPED


def test_a_rank_with_an_error_leaves_and_the_others_do_not_wait(tmp_path: Path) -> None:
    """What it sent next would meet another message of the others."""
    env = {"FAKE": "raise:message of rank 1", "FAKE_CARDS": "2"}
    result = run_kernel("nccl", tmp_path, "--quick", env=env)
    failed = outcomes(result, Outcome.FAILED)
    assert "rank 1: RuntimeError: cuDNN" in failed["all-reduce, 4 B"]
    assert "rank 1: not reached" in failed["all-gather, 4 B"]
    assert "all-gather, 4 B" in outcomes(result, Outcome.FAILED)
    assert result.ending is not None
    assert result.ending.seconds < 30


@pytest.mark.slow(reason="waits for the limit of a collective")
def test_a_rank_that_hangs_is_told_with_its_check(tmp_path: Path) -> None:
    """torch's watchdog does not see a communicator that hangs while it is made."""
    env = {"FAKE": "hang:rank 1", "FAKE_CARDS": "2"}
    result = run_kernel("nccl", tmp_path, "--quick", "--timeout", "4", env=env)
    failed = outcomes(result, Outcome.FAILED)
    assert "rank 1: began and never ended" in failed["the ranks find each other"]
    assert failed["rank 1 ends"] == "its process did not end"
    assert result.ending is not None
    assert result.ending.limit is None


def test_ranks_that_end_before_they_tell_anything_fail(tmp_path: Path) -> None:
    env = {"FAKE": "raise:import torch.distributed", "FAKE_CARDS": "2"}
    result = run_kernel("nccl", tmp_path, "--quick", env=env)
    failed = outcomes(result, Outcome.FAILED)
    assert failed == {
        "rank 0 ends": "its process ended with code 1",
        "rank 1 ends": "its process ended with code 1",
    }


def test_messages_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    result = run_kernel("nccl", tmp_path, env={"FAKE_FREE": str(64 << 20)})
    skipped = [check.name for check in result.checks if check.outcome is Outcome.SKIPPED]
    assert "all-reduce, 256 MiB" in skipped
    assert "all-reduce, 1 MiB" not in skipped


def test_what_torch_computes_with_its_own_code_is_not_proven_for_cudnn(tmp_path: Path) -> None:
    """bfloat16 below 8.0, 3-D in half precision with a cuDNN that torch knows to be wrong."""
    result = run_kernel("conv", tmp_path, "--quick", env={"FAKE_ROUTE": "bfloat16=Slow2d"})
    assert result.outcome is Outcome.PASSED
    skipped = outcomes(result, Outcome.SKIPPED)
    assert {name.split()[2] for name in skipped} == {"bfloat16"}
    assert len(skipped) == 6
    said = skipped["2-D 3×3 bfloat16 contiguous forward"]
    assert "torch computes it with Slow2d of its own, not with cuDNN" in said


def test_what_torch_computes_with_its_own_code_has_to_be_right_too(tmp_path: Path) -> None:
    env = {"FAKE_ROUTE": "bfloat16=Slow2d", "FAKE": "wrong:conv"}
    result = run_kernel("conv", tmp_path, "--quick", env=env)
    assert "2-D 3×3 bfloat16 contiguous forward" in outcomes(result, Outcome.FAILED)


def test_a_torch_that_sends_nothing_to_cudnn_fails(tmp_path: Path) -> None:
    result = run_kernel("conv", tmp_path, "--quick", env={"FAKE_ROUTE": "all=SlowDilated2d"})
    assert outcomes(result, Outcome.FAILED) == {
        "a convolution by cuDNN": "none was right, or torch sent none of them to cuDNN"
    }


@pytest.mark.parametrize(
    ("env", "why"),
    [
        ({"FAKE_CAPABILITIES": "7.5"}, "cards below 8.0 have no TF32"),
        ({"NVIDIA_TF32_OVERRIDE": "0"}, "NVIDIA_TF32_OVERRIDE=0 switches TF32 off"),
    ],
)
def test_tf32_is_not_proven_where_there_is_none(
    env: dict[str, str], why: str, tmp_path: Path
) -> None:
    result = run_kernel("conv", tmp_path, "--quick", env=env)
    assert result.outcome is Outcome.PASSED
    skipped = outcomes(result, Outcome.SKIPPED)
    assert {why for name, why in skipped.items() if " tf32 " in name} == {why}
    assert not [name for name in outcomes(result, Outcome.PASSED) if " tf32 " in name]


@pytest.mark.parametrize(
    ("name", "what"), [("conv", "conv"), ("attention", "attention"), ("compiled", "compile")]
)
def test_each_kind_of_card_is_proven(name: str, what: str, tmp_path: Path) -> None:
    env = {
        "FAKE_CARDS": "3",
        "FAKE_CAPABILITIES": "8.9,8.9,12.0",
        "FAKE": f"wrong:{what}",
        "FAKE_ON": "cuda:2",
    }
    result = run_kernel(name, tmp_path, "--quick", env=env)
    failed = outcomes(result, Outcome.FAILED)
    assert failed
    assert all(check.endswith(", Card 12.0") for check in failed)
    passed = outcomes(result, Outcome.PASSED)
    assert {check.replace("Card 12.0", "Card 8.9") for check in failed} <= set(passed)


def test_a_card_that_torch_has_no_code_for_hides_no_other(tmp_path: Path) -> None:
    """An old one for the screen beside the one that computes."""
    env = {
        "FAKE_CARDS": "2",
        "FAKE_CAPABILITIES": "12.0,5.0",
        "FAKE": "raise:conv",
        "FAKE_ON": "cuda:1",
    }
    result = run_kernel("conv", tmp_path, "--quick", env=env)
    assert "2-D 3×3 float32 contiguous forward, Card 12.0" in outcomes(result, Outcome.PASSED)
    assert "a convolution by cuDNN, Card 5.0" in outcomes(result, Outcome.FAILED)


def test_what_torch_decides_by_the_card_it_decides_by_the_one_in_question(tmp_path: Path) -> None:
    """An older card beside a newer one: bfloat16 goes to cuDNN on one of them alone."""
    env = {"FAKE_CARDS": "2", "FAKE_CAPABILITIES": "8.9,7.5"}
    result = run_kernel("conv", tmp_path, "--quick", env=env)
    name = "2-D 3×3 bfloat16 contiguous forward"
    assert f"{name}, Card 8.9" in outcomes(result, Outcome.PASSED)
    assert "not with cuDNN" in outcomes(result, Outcome.SKIPPED)[f"{name}, Card 7.5"]


def test_each_kind_of_device_of_jax_is_proven(tmp_path: Path) -> None:
    env = {"FAKE_KINDS": "L4,RTX 5090,L4", "FAKE": "wrong:conv", "FAKE_ON": "gpu:1"}
    result = run_kernel("jax_conv", tmp_path, "--quick", env=env)
    assert list(outcomes(result, Outcome.FAILED)) == ["2-D 3×3 float16 forward, RTX 5090"]
    assert "2-D 3×3 float16 forward, L4" in outcomes(result, Outcome.PASSED)


@needs_compiler
@pytest.mark.parametrize(
    ("part", "proven"),
    [("libcudnn_graph.so.9", False), ("libcudnn_engines_precompiled.so.9", True)],
)
def test_convolutions_of_jax_are_cudnns_where_it_has_loaded_what_computes(
    part: str, proven: bool, tmp_path: Path
) -> None:
    """Its version alone loads the main library and libcudnn_graph."""
    library = build_part(tmp_path / "lib" / part)
    result = run_kernel("jax_conv", tmp_path, "--quick", env={"LD_PRELOAD": str(library)})
    assert result.outcome is Outcome.PASSED, result.reason
    found = Outcome.PASSED if proven else Outcome.SKIPPED
    assert "they ran through cuDNN" in outcomes(result, found)


@pytest.mark.parametrize(
    "words",
    [
        "No available kernel. Aborting execution.",
        "No viable backend for scaled_dot_product_attention was found.",
    ],
)
def test_an_attention_that_does_not_serve_the_card_is_skipped(words: str, tmp_path: Path) -> None:
    result = run_kernel(
        "attention", tmp_path, env={"FAKE_NO_ATTENTION": "flash", "FAKE_WORDS": words}
    )
    assert result.outcome is Outcome.PASSED
    skipped = outcomes(result, Outcome.SKIPPED)
    assert skipped["float16, flash attention"] == "torch has none for this card and type"
    assert skipped["float16, efficient attention"] == "this torch has no such implementation"
    assert "float16, cudnn attention" in outcomes(result, Outcome.PASSED)


@pytest.mark.parametrize(
    "words",
    [
        "cuDNN Frontend error: [cudnn_frontend] Error: No execution plans support the graph.",
        "cuDNN Frontend error: [cudnn_frontend] Error: No valid execution plans built.",
    ],
)
def test_an_attention_without_a_plan_for_the_card_fails_only_where_torch_chooses_it(
    words: str, tmp_path: Path
) -> None:
    """As cuDNN's does on cards that are newer than it: torch may take another by itself."""
    env = {"FAKE_NO_ATTENTION": "cudnn", "FAKE_WORDS": words}
    result = run_kernel("attention", tmp_path, env=env)
    assert result.outcome is Outcome.PASSED, result.reason
    assert words in outcomes(result, Outcome.SKIPPED)["float16, cudnn attention"]
    result = run_kernel("attention", tmp_path, env={**env, "FAKE_NO_ATTENTION": "own"})
    assert words in outcomes(result, Outcome.FAILED)["float16, torch's own choice"]


def test_an_attention_that_fails_while_it_runs_fails(tmp_path: Path) -> None:
    env = {"FAKE_NO_ATTENTION": "cudnn", "FAKE_WORDS": "CUDNN_STATUS_EXECUTION_FAILED"}
    result = run_kernel("attention", tmp_path, env=env)
    assert "float16, cudnn attention" in outcomes(result, Outcome.FAILED)


def test_torchs_own_choice_of_attention_has_to_serve(tmp_path: Path) -> None:
    result = run_kernel("attention", tmp_path, "--quick", env={"FAKE_NO_ATTENTION": "own"})
    assert result.outcome is Outcome.FAILED
    assert "No available kernel" in result.reason


def test_an_older_torch_is_asked_in_its_own_words(tmp_path: Path) -> None:
    result = run_kernel("attention", tmp_path, env={"FAKE_OLD": "1"})
    assert result.outcome is Outcome.PASSED, (result.reason, result.log)
    assert "float16, efficient attention" in outcomes(result, Outcome.PASSED)
    assert "float16, cudnn attention" in outcomes(result, Outcome.SKIPPED)


@pytest.mark.parametrize(
    ("env", "why"),
    [
        ({"TORCH_COMPILE_DISABLE": "1"}, "TORCH_COMPILE_DISABLE=1 switches torch.compile off"),
        ({"TORCHDYNAMO_DISABLE": "1"}, "TORCHDYNAMO_DISABLE=1 switches torch.compile off"),
        ({"CC": "no-such-compiler"}, "there is no C compiler (no-such-compiler)"),
        (
            {"FAKE_COMPILER": "torch.compile is not supported on Python 3.14+"},
            "torch.compile is not supported on Python 3.14+",
        ),
        (
            {"FAKE_COMPILER": "Found Tesla P100 which is too old to be supported by the triton"},
            "Found Tesla P100 which is too old",
        ),
    ],
)
def test_a_machine_that_cannot_compile_proves_nothing(
    env: dict[str, str], why: str, tmp_path: Path
) -> None:
    result = run_kernel("compiled", tmp_path, env=env)
    assert result.outcome is Outcome.SKIPPED
    assert result.reason.startswith(why)


def test_a_compiler_that_does_not_know_the_card_fails(tmp_path: Path) -> None:
    said = "ptxas fatal: Value 'sm_120a' is not defined for option 'gpu-name'"
    result = run_kernel("compiled", tmp_path, env={"FAKE_COMPILER": said})
    assert result.outcome is Outcome.FAILED
    assert "sm_120a" in result.reason


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
