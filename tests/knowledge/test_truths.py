"""What is known of famous releases from elsewhere has to come out of the measured facts.

Sources: the build scripts and RELEASE.md of pytorch/pytorch; pytorch/pytorch#38229 and #158379; the
support matrices and release notes of cuDNN (9.11 ends Maxwell, Pascal and Volta in its wheels);
the release notes of CUDA 12.8 and 13.0; NVIDIA/nccl's makefiles; jax-ml/jax .bazelrc.
"""

from __future__ import annotations

import pytest

from stackfix_knowledge.graph import Graph
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.wheels.coverage import Support

GRAPH = Graph.load()

OK, JIT, PART, NONE = (
    Support.SUPPORTED,
    Support.JIT,
    Support.PARTIAL,
    Support.UNSUPPORTED,
)


@pytest.mark.parametrize(
    ("package", "version", "card", "verdict"),
    [
        ("torch", "2.7.1", "6.1", OK),
        ("torch", "2.7.1", "7.0", OK),
        ("torch", "2.7.1", "7.5", OK),
        ("torch", "2.7.1", "8.9", OK),
        ("torch", "2.7.1", "9.0", OK),
        ("torch", "2.7.1", "10.0", NONE),
        ("torch", "2.7.1", "12.0", NONE),
        ("torch", "2.8.0", "5.2", NONE),
        ("torch", "2.8.0", "6.1", NONE),
        ("torch", "2.8.0", "7.0", OK),
        ("torch", "2.8.0", "8.6", OK),
        ("torch", "2.8.0", "12.0", OK),
        ("torch", "2.8.0", "12.1", OK),
        ("torch", "2.10.0", "7.0", OK),
        ("torch", "2.10.0", "7.5", OK),
        ("torch", "2.12.0", "7.0", NONE),
        ("torch", "2.12.0", "7.5", PART),
        ("torch", "2.12.0", "8.0", OK),
        ("torch", "2.12.0", "12.0", OK),
        ("nvidia-cudnn-cu12", "9.5.1.17", "7.0", OK),
        ("nvidia-cudnn-cu12", "9.5.1.17", "8.9", OK),
        ("nvidia-cudnn-cu12", "9.5.1.17", "9.0", OK),
        ("nvidia-cudnn-cu12", "9.5.1.17", "12.0", PART),
        ("nvidia-cudnn-cu12", "9.10.2.21", "6.1", OK),
        ("nvidia-cudnn-cu12", "9.10.2.21", "7.0", OK),
        ("nvidia-cudnn-cu12", "9.10.2.21", "9.0", OK),
        ("nvidia-cudnn-cu12", "9.10.2.21", "12.0", OK),
        ("nvidia-nccl-cu12", "2.26.2", "8.9", OK),
        ("nvidia-nccl-cu12", "2.26.2", "12.0", JIT),
        ("nvidia-nccl-cu12", "2.27.3", "7.0", OK),
        ("nvidia-nccl-cu12", "2.27.3", "12.0", OK),
        ("nvidia-cublas-cu12", "12.6.4.1", "12.0", PART),
        ("nvidia-cublas-cu12", "12.8.4.1", "7.0", OK),
        ("nvidia-cublas-cu12", "12.8.4.1", "12.0", OK),
        ("jax-cuda12-plugin", "0.5.3", "9.0", OK),
        ("jax-cuda12-plugin", "0.5.3", "12.0", JIT),
        ("jax-cuda12-plugin", "0.6.2", "12.0", OK),
        ("jax-cuda12-plugin", "0.6.2", "7.0", OK),
    ],
)
def test_a_famous_release(package: str, version: str, card: str, verdict: Support) -> None:
    release = GRAPH.release(package, version)
    wheel = release.wheel("linux_x86_64") if release else None
    assert wheel is not None
    assert wheel.coverage is not None
    assert wheel.coverage.support(ComputeCapability.parse(card)) is verdict


@pytest.mark.parametrize(
    ("version", "platform", "cpu_only"),
    [
        ("2.7.1", "linux_x86_64", False),
        ("2.7.1", "linux_aarch64", True),
        ("2.10.0", "linux_aarch64", True),
        ("2.11.0", "linux_aarch64", False),
        ("2.11.0", "win_amd64", True),
    ],
)
def test_where_torch_is_a_cpu_build(version: str, platform: str, cpu_only: bool) -> None:
    release = GRAPH.release("torch", version)
    wheel = release.wheel(platform) if release else None
    assert wheel is not None
    assert wheel.cpu_only is cpu_only


@pytest.mark.parametrize(
    ("package", "version", "built"),
    [
        ("jax-cuda12-plugin", "0.5.3", (9, 1)),
        ("jax-cuda12-plugin", "0.7.2", (9, 8)),
        ("torch", "2.7.1", (9, 5)),
        ("torch", "2.8.0", (9, 10)),
    ],
)
def test_the_cudnn_that_a_framework_was_built_against(
    package: str, version: str, built: tuple[int, int]
) -> None:
    release = GRAPH.release(package, version)
    wheel = release.wheel("linux_x86_64") if release else None
    assert wheel is not None
    assert wheel.built_against["cudnn"].release[:2] == built
