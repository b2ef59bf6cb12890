"""SF301, SF302, SF303 and SF504: packages judged against each other."""

from __future__ import annotations

import re

import pytest
from packaging.version import Version

from stackfix.model.stack import Stack
from stackfix.rules.judge import judge_stack
from stackfix.rules.sf301_older_runtime import satisfies
from stackfix.rules.sf504_superseded import Superseded
from tests.resolver.making import graph, piece, stack, target, wheel


def codes(made: Stack, card: str = "RTX 5090") -> set[str]:
    return {f.code for f in judge_stack(made, target(card), graph())} - {"SF109", "SF401"}


@pytest.mark.parametrize(
    ("runtime", "built", "runs"),
    [
        ("9.10.2.21", "9.8.0", True),
        ("9.8.0.87", "9.8.0", True),
        ("9.7.1.26", "9.8.0", False),
        ("8.9.7.29", "9.1.0", False),
        ("10.0.0", "9.8.0", False),
    ],
)
def test_a_runtime_serves_older_minors_of_its_major(runtime: str, built: str, runs: bool) -> None:
    assert satisfies(Version(runtime), Version(built)) is runs


def test_jax_refuses_a_cudnn_older_than_the_one_it_was_built_with() -> None:
    plugin = wheel(built_against={"cudnn": Version("9.8.0")})
    made = stack(
        piece("jax-cuda12-plugin", "0.6.2", plugin),
        piece("nvidia-cudnn-cu12", "9.5.1.17", wheel()),
    )
    assert "SF301" in codes(made)
    newer = stack(
        piece("jax-cuda12-plugin", "0.6.2", plugin),
        piece("nvidia-cudnn-cu12", "9.10.2.21", wheel()),
    )
    assert "SF301" not in codes(newer)


@pytest.mark.parametrize("library", ["cudnn", "nccl"])
def test_two_cuda_majors_of_a_library_overwrite_each_other(library: str) -> None:
    made = stack(
        piece(f"nvidia-{library}-cu12", "9.10.2.21" if library == "cudnn" else "2.27.3", wheel()),
        piece(f"nvidia-{library}-cu13", "9.13.0.50" if library == "cudnn" else "2.27.7", wheel()),
    )
    found = [f for f in judge_stack(made, target("RTX 5090"), graph()) if f.code == "SF302"]
    assert len(found) == 1


def test_cublas_of_two_majors_live_side_by_side() -> None:
    made = stack(
        piece("nvidia-cublas-cu12", "12.9.1.4", wheel()),
        piece("nvidia-cublas", "13.1.1.3", wheel(cuda="13.1")),
    )
    assert "SF302" not in codes(made)


@pytest.mark.parametrize(
    ("torchcodec", "torch", "fits"),
    [("0.4.0", "2.7.1", True), ("0.4.0", "2.8.0", False), ("0.7.0", "2.8.0", True)],
)
def test_torchcodec_belongs_to_one_torch(torchcodec: str, torch: str, fits: bool) -> None:
    made = stack(piece("torchcodec", torchcodec, wheel()), piece("torch", torch, wheel()))
    assert ("SF303" in codes(made)) is not fits


def test_torchaudio_wants_the_very_cuda_of_torch() -> None:
    audio = piece("torchaudio", "2.0.2", wheel(cuda="11.7"))
    assert "SF303" in codes(stack(piece("torch", "2.0.1", wheel(cuda="11.8")), audio), "A100")
    assert "SF303" not in codes(stack(piece("torch", "2.0.1", wheel(cuda="11.7")), audio), "A100")
    processor = stack(piece("torch", "2.0.1", wheel(cuda=None)), audio)
    assert "SF303" not in codes(processor, "A100")


@pytest.mark.parametrize("package", ["torchvision", "torchaudio"])
def test_no_pair_of_the_default_index_differs_in_cuda(package: str) -> None:
    for release in graph().releases(package):
        for one in release.wheels if release.home is None else ():
            for line in one.requires or ():
                if not (pin := re.match(r"torch ?\(?==([\w.]+)", line)):
                    continue
                torch = graph().release("torch", pin[1])
                theirs = torch.wheel(one.platform) if torch else None
                if not one.cuda or not theirs or not theirs.cuda:
                    continue
                for check in graph().cuda_checks(package, release.version):
                    met = check.met(one.cuda, theirs.cuda, graph().cuda)
                    assert met, (release.version, one.platform)


def test_an_older_cudnn_in_a_fork_that_no_target_installs_is_left_over() -> None:
    made = stack(piece("nvidia-cudnn-cu12", "9.10.2.21"))
    locked = {"nvidia-cudnn-cu12": ("9.5.1.17", "9.10.2.21")}
    (found,) = Superseded().judge(locked, (made,), graph())
    assert (found.code, found.version) == ("SF504", "9.5.1.17")


def test_a_newer_cudnn_in_another_fork_is_not_left_over() -> None:
    made = stack(piece("nvidia-cudnn-cu12", "9.5.1.17"))
    locked = {"nvidia-cudnn-cu12": ("9.5.1.17", "9.10.1.4")}
    assert not list(Superseded().judge(locked, (made,), graph()))
