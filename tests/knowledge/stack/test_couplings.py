"""What metadata does not say: couplings, collisions, run-time checks."""

from __future__ import annotations

import pytest
from packaging.version import Version

from stackfix_knowledge.cards.cuda import cuda_table
from stackfix_knowledge.evidence import FactSeverity
from stackfix_knowledge.stack.couplings import Coupling, CouplingTable, Relation


@pytest.fixture(scope="module")
def table() -> CouplingTable:
    return CouplingTable.load()


def coupling(table: CouplingTable, package: str, version: str, needs: str) -> Coupling | None:
    found = [
        known
        for known in table.of(package)
        if known.needs == needs and known.concerns(Version(version))
    ]
    assert len(found) < 2, f"{package} {version} needs {needs} in two ways"
    return found[0] if found else None


@pytest.mark.parametrize(
    ("torchcodec", "torch", "met"),
    [
        ("0.4.0", "2.7.1", True),
        ("0.4.0", "2.8.0", False),
        ("0.0.3", "2.4.1", True),
        ("0.2.1", "2.6.0", True),
        ("0.7.0", "2.8.0", True),
        ("0.9.1", "2.9.1", True),
        ("0.9.1", "2.10.0", False),
        ("0.10.0", "2.10.0", True),
        ("0.11.0", "2.11.0+cu128", True),
        ("0.16.0", "2.15.0", True),
        ("0.12.0", "2.10.0", False),
    ],
)
def test_torchcodec_is_built_for_one_torch(
    table: CouplingTable, torchcodec: str, torch: str, met: bool
) -> None:
    found = coupling(table, "torchcodec", torchcodec, "torch")
    assert found is not None
    assert found.severity is FactSeverity.ERROR
    assert found.met(Version(torchcodec), Version(torch)) is met


def test_a_torchcodec_newer_than_its_table_is_unknown(table: CouplingTable) -> None:
    found = coupling(table, "torchcodec", "0.17.0", "torch")
    assert found is not None
    assert found.relation is Relation.UNKNOWN
    assert found.met(Version("0.17.0"), Version("2.14.1")) is None


@pytest.mark.parametrize(
    ("cusparse", "nvjitlink", "met"),
    [
        ("12.3.1.170", "12.4.127", True),
        ("12.3.1.170", "12.3.101", False),
        ("12.3.1.170", "12.9.86", True),
        ("12.5.8.93", "12.8.93", True),
        ("12.5.8.93", "12.6.85", False),
        ("12.5.10.65", "12.8.93", False),
        ("12.1.0.106", "12.1.105", True),
    ],
)
def test_cusparse_needs_an_nvjitlink_at_least_as_new(
    table: CouplingTable, cusparse: str, nvjitlink: str, met: bool
) -> None:
    found = coupling(table, "nvidia-cusparse-cu12", cusparse, "nvidia-nvjitlink-cu12")
    assert found is not None
    assert found.met(Version(cusparse), Version(nvjitlink)) is met


@pytest.mark.parametrize(
    ("plugin", "jaxlib", "met"),
    [("0.6.2", "0.6.2", True), ("0.7.2", "0.7.1", False), ("0.12.0.1", "0.12.0", False)],
)
def test_a_jax_plugin_goes_with_the_jaxlib_of_its_version_only(
    table: CouplingTable, plugin: str, jaxlib: str, met: bool
) -> None:
    found = coupling(table, "jax-cuda12-plugin", plugin, "jaxlib")
    assert found is not None
    assert found.met(Version(plugin), Version(jaxlib)) is met


def collide(table: CouplingTable, one: tuple[str, str], other: tuple[str, str]) -> bool:
    return any(
        collision.other == other[0] and collision.between(Version(one[1]), Version(other[1]))
        for collision in table.collisions_of(one[0])
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("nvidia-cudnn-cu12", "9.28.0.42"), ("nvidia-cudnn-cu13", "9.24.0.43")),
        (("nvidia-cudnn-cu11", "8.7.0.84"), ("nvidia-cudnn-cu12", "8.9.2.26")),
        (("nvidia-nccl-cu12", "2.32.3"), ("nvidia-nccl-cu13", "2.30.7")),
        (("nvidia-nvshmem-cu12", "3.8.0"), ("nvidia-nvshmem-cu13", "3.4.5")),
        (("nvidia-cusparselt-cu12", "0.8.1"), ("nvidia-cusparselt-cu13", "0.8.0")),
        (("onnxruntime", "1.22.0"), ("onnxruntime-gpu", "1.22.0")),
        (("cupy-cuda12x", "14.2.0"), ("cupy-cuda13x", "14.2.0")),
    ],
)
def test_two_wheels_of_the_same_files_collide_both_ways(
    table: CouplingTable, one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert collide(table, one, other)
    assert collide(table, other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("nvidia-cublas-cu12", "12.9.1.4"), ("nvidia-cublas", "13.1.1.3")),
        (("nvidia-cuda-nvrtc-cu12", "12.9.86"), ("nvidia-cuda-nvrtc", "13.5.37")),
        (("nvidia-cufile-cu12", "1.14.1.1"), ("nvidia-cufile", "1.20.0.107")),
        (("nvidia-curand-cu12", "10.3.10.19"), ("nvidia-curand", "10.4.5.25")),
        (("nvidia-cusparselt-cu12", "0.8.1"), ("nvidia-cusparselt-cu13", "0.10.0")),
        (("nvidia-cudnn-cu11", "8.7.0.84"), ("nvidia-cudnn-cu12", "9.1.0.70")),
        (("jax-cuda12-plugin", "0.12.0.1"), ("jax-cuda13-plugin", "0.12.0.1")),
    ],
)
def test_wheels_whose_files_lie_apart_do_not_collide(
    table: CouplingTable, one: tuple[str, str], other: tuple[str, str]
) -> None:
    assert not collide(table, one, other)


@pytest.mark.parametrize("package", ["torch", "jax-cuda12-plugin", "jax-cuda13-plugin"])
def test_frameworks_that_refuse_an_older_cudnn(table: CouplingTable, package: str) -> None:
    assert [check.library for check in table.checks_of(package)] == ["cudnn"]


def test_no_pair_is_coupled_twice_for_one_version(table: CouplingTable) -> None:
    """Rows of one pair never overlap, tried at both ends of each row."""
    for known in table.couplings:
        for specifier in known.versions:
            if not specifier.version.endswith(".*"):
                coupling(table, known.package, specifier.version, known.needs)


def test_every_coupling_and_collision_has_evidence(table: CouplingTable) -> None:
    assert all(coupling.evidence for coupling in table.couplings)
    assert all(collision.evidence for collision in table.collisions)
    assert all(check.evidence for check in table.checks)


@pytest.mark.parametrize(
    ("package", "version", "own", "torch", "loads"),
    [
        ("torchaudio", "2.0.2", "11.7", "11.8", False),
        ("torchaudio", "2.11.0", "13.0", "13.2", False),
        ("torchaudio", "2.11.1", "13.2", "13.0", True),
        ("torchaudio", "2.7.1", "12.5", "12.6", True),  # measuring does not tell them apart
        ("torchvision", "0.15.2", "11.7", "11.8", False),
        ("torchvision", "0.22.1", "12.6", "12.8", True),
        ("torchvision", "0.24.1", "12.8", "13.0", False),
    ],
)
def test_torchvision_and_torchaudio_compare_their_cuda_with_torchs(
    table: CouplingTable, package: str, version: str, own: str, torch: str, loads: bool
) -> None:
    (check,) = table.cuda_checks_of(package, Version(version))
    assert check.beside == "torch"
    assert check.met(Version(own), Version(torch), cuda_table()) is loads
