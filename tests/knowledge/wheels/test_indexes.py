"""PyTorch's own indexes, as documented."""

from __future__ import annotations

import pytest
from packaging.version import Version

from stackfix_knowledge.evidence import EvidenceKind
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.wheels.coverage import Support
from stackfix_knowledge.wheels.indexes import IndexTable
from stackfix_knowledge.wheels.release import Release


@pytest.fixture(scope="module")
def indexes() -> IndexTable:
    return IndexTable.load()


def release(indexes: IndexTable, package: str, version: str) -> Release | None:
    wanted = Version(version)
    return next((known for known in indexes.releases(package) if known.version == wanted), None)


def support(indexes: IndexTable, version: str, card: str) -> Support | None:
    found = release(indexes, "torch", version)
    assert found is not None
    wheel = found.wheel("linux_x86_64")
    assert wheel is not None
    if wheel.coverage is None:
        return None
    return wheel.coverage.support(ComputeCapability.parse(card))


@pytest.mark.parametrize(
    ("version", "card", "verdict"),
    [
        ("2.7.1+cu128", "12.0", Support.SUPPORTED),
        ("2.7.1+cu126", "12.0", Support.UNSUPPORTED),
        ("2.7.1+cu126", "7.0", Support.SUPPORTED),
        ("2.7.1+cu128", "7.0", Support.UNSUPPORTED),
        ("2.8.0+cu128", "7.0", Support.SUPPORTED),
        ("2.10.0+cu128", "7.0", Support.SUPPORTED),
        ("2.11.0+cu128", "7.0", Support.UNSUPPORTED),
        ("2.14.0+cu126", "6.0", Support.SUPPORTED),
        ("2.9.1+cu130", "6.0", Support.UNSUPPORTED),
        ("2.7.1+cu128", "8.9", Support.SUPPORTED),
    ],
)
def test_what_each_build_was_compiled_for(
    indexes: IndexTable, version: str, card: str, verdict: Support
) -> None:
    assert support(indexes, version, card) is verdict


def test_a_build_that_nobody_wrote_down_is_unknown(indexes: IndexTable) -> None:
    found = release(indexes, "torch", "2.7.1+cu128")
    assert found is not None
    wheel = found.wheel("win_amd64")
    assert wheel is not None
    assert wheel.coverage is None


def test_an_inferred_list_of_code_says_so(indexes: IndexTable) -> None:
    (build,) = [b for b in indexes.builds_of(Version("2.6.0")) if b.home == "cu126"]
    assert build.note is not None
    assert "inferred" in build.note


def test_a_build_that_the_documents_disagree_about_is_not_offered(indexes: IndexTable) -> None:
    assert release(indexes, "torch", "2.15.0+cu126") is None
    assert release(indexes, "torch", "2.15.0+cu132") is not None


def test_a_release_knows_its_index_and_its_cuda(indexes: IndexTable) -> None:
    found = release(indexes, "torch", "2.7.1+cu128")
    assert found is not None
    assert found.home == "cu128"
    wheel = found.wheel("linux_x86_64")
    assert wheel is not None
    assert wheel.cuda == Version("12.8")


def test_a_wheel_that_holds_its_own_cudnn_says_which(indexes: IndexTable) -> None:
    found = release(indexes, "torch", "2.1.2+cu118")
    assert found is not None
    assert found.wheels[0].built_against == {"cudnn": Version("8.7.0.84")}


def test_thor_runs_the_cu130_build_but_not_the_cu128_one(indexes: IndexTable) -> None:
    thor, spark = ComputeCapability(11, 0), ComputeCapability(12, 1)
    for index, card, verdict in (
        ("cu128", thor, Support.UNSUPPORTED),
        ("cu130", thor, Support.SUPPORTED),
        ("cu128", spark, Support.SUPPORTED),
    ):
        found = release(indexes, "torch", f"2.9.1+{index}")
        assert found is not None
        wheel = found.wheel("linux_aarch64")
        assert wheel is not None
        assert wheel.coverage is not None
        assert wheel.coverage.support(card) is verdict


def test_the_cpu_index_has_no_gpu_code(indexes: IndexTable) -> None:
    found = release(indexes, "torch", "2.8.0+cpu")
    assert found is not None
    wheel = found.wheel("linux_x86_64")
    assert wheel is not None
    assert wheel.cpu_only


def test_companions_follow_torch_to_its_index(indexes: IndexTable) -> None:
    found = release(indexes, "torchvision", "0.22.1+cu128")
    assert found is not None
    assert found.home == "cu128"


def test_an_index_has_an_address(indexes: IndexTable) -> None:
    assert indexes.url("cu128") == "https://download.pytorch.org/whl/cu128"


def test_nothing_here_is_called_measured(indexes: IndexTable) -> None:
    for build in indexes.builds:
        assert build.evidence
        assert all(item.kind is not EvidenceKind.MEASURED for item in build.evidence)


def test_an_index_is_named_after_its_cuda(indexes: IndexTable) -> None:
    for build in indexes.builds:
        major, minor = build.cuda.release[:2]
        assert build.home == f"cu{major}{minor}"


def test_a_build_is_listed_once(indexes: IndexTable) -> None:
    builds = [(build.torch, build.home) for build in indexes.builds]
    assert len(builds) == len(set(builds))


def test_a_mirror_has_the_same_indexes() -> None:
    mirror = IndexTable.load("https://mirror.example/pytorch/")
    assert mirror.url("cu128") == "https://mirror.example/pytorch/cu128"
    assert mirror.names() == IndexTable.load().names()


def test_linear_algebra_of_cuda_13_starts_at_ampere(indexes: IndexTable) -> None:
    assert support(indexes, "2.9.1+cu130", "7.5") is Support.PARTIAL
    assert support(indexes, "2.11.0+cu126", "7.5") is Support.SUPPORTED
