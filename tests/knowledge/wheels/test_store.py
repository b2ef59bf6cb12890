"""Measured wheels: one file a package, read when asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from stackfix_knowledge.evidence import EvidenceKind
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.reader import FactsError
from stackfix_knowledge.wheels.coverage import Support
from stackfix_knowledge.wheels.store import WheelStore

CUDNN = """
package = "nvidia-cudnn-cu12"

[[release]]
version = "9.5.1.17"
date = "2024-10-25"

[[release.wheel]]
file = "nvidia_cudnn_cu12-9.5.1.17-py3-none-manylinux_2_28_x86_64.whl"
sha256 = "30ac3869f6db17d170e0e556dd6cc5eee02647abc31ca856634d5a40f82c15b2"
platform = "linux_x86_64"
requires-python = ">=3"
requires = ["nvidia-cublas-cu12"]
metadata-date = 2026-11-30
cuda = "12.6"
needs = ["libcublas.so.12"]
built-against = { cublas = "12.6.3" }
ptxas = [{ cuda = "12.6", targets = ["sm_90", "sm_90a"] }]
measured = 2026-11-30
collides = ["nvidia-cudnn-cu13"]

[[release.wheel.library]]
name = "nvidia/cudnn/lib/libcudnn_ops.so.9"
containers = { "sm_50 sm_60 sm_70 sm_80 sm_90 compute_90" = 107, "sm_80" = 3 }

[[release]]
version = "9.10.2.21"
date = "2025-06-06"
yanked = true

[[release.wheel]]
file = "nvidia_cudnn_cu12-9.10.2.21-py3-none-manylinux_2_27_x86_64.whl"
platform = "linux_x86_64"
metadata-date = 2026-11-30
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nvidia-cudnn-cu12.toml").write_text(CUDNN, encoding="utf-8")
    return tmp_path


def edited(folder: Path, old: str, new: str) -> WheelStore:
    path = folder / "nvidia-cudnn-cu12.toml"
    assert old in CUDNN
    path.write_text(CUDNN.replace(old, new, 1), encoding="utf-8")
    return WheelStore(folder=folder)


def test_a_release_is_read_with_all_that_is_known(folder: Path) -> None:
    release = WheelStore(folder=folder).release("nvidia-cudnn-cu12", Version("9.5.1.17"))
    assert release is not None
    wheel = release.wheel("linux_x86_64")
    assert wheel is not None
    assert (release.date, release.yanked, release.home) == ("2024-10-25", False, None)
    assert wheel.requires == ("nvidia-cublas-cu12",)
    assert wheel.cuda == Version("12.6")
    assert wheel.built_against == {"cublas": Version("12.6.3")}
    assert wheel.needs == ("libcublas.so.12",)
    assert wheel.ptxas[0].targets == ("sm_90", "sm_90a")
    assert wheel.coverage is not None
    assert wheel.coverage.support(ComputeCapability(9, 0)) is Support.SUPPORTED
    assert wheel.coverage.support(ComputeCapability(12, 0)) is Support.JIT
    assert [item.kind for item in wheel.evidence] == [
        EvidenceKind.MEASURED,
        EvidenceKind.METADATA,
    ]


def test_a_wheel_whose_binaries_nobody_read_has_no_coverage(folder: Path) -> None:
    release = WheelStore(folder=folder).release("nvidia-cudnn-cu12", Version("9.10.2.21"))
    assert release is not None
    assert release.yanked
    wheel = release.wheel("linux_x86_64")
    assert wheel is not None
    assert wheel.coverage is None
    assert wheel.requires is None


def test_a_missing_platform_has_no_wheel(folder: Path) -> None:
    release = WheelStore(folder=folder).release("nvidia-cudnn-cu12", Version("9.5.1.17"))
    assert release is not None
    assert release.wheel("win_amd64") is None


def test_releases_ascend_by_version_not_by_text(folder: Path) -> None:
    releases = WheelStore(folder=folder).releases("nvidia-cudnn-cu12")
    assert [str(release.version) for release in releases] == ["9.5.1.17", "9.10.2.21"]


def test_trailing_zeros_do_not_count(folder: Path) -> None:
    store = edited(folder, 'version = "9.5.1.17"', 'version = "9.5.1"')
    assert store.release("nvidia-cudnn-cu12", Version("9.5.1.0")) is not None


def test_an_unknown_package_or_version_is_unknown(folder: Path) -> None:
    store = WheelStore(folder=folder)
    assert store.releases("nvidia-nccl-cu12") == ()
    assert store.release("nvidia-cudnn-cu12", Version("9.6.0.74")) is None


@pytest.mark.parametrize("name", ["../graph", "", "a/b", "Torch", "a--b"])
def test_a_strange_name_reads_no_file(folder: Path, name: str) -> None:
    assert WheelStore(folder=folder).releases(name) == ()


def test_measured_collisions_are_reported(folder: Path) -> None:
    found = WheelStore(folder=folder).collisions("nvidia-cudnn-cu12")
    assert list(found) == ["nvidia-cudnn-cu13"]
    assert found["nvidia-cudnn-cu13"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('platform = "linux_x86_64"', 'platform = "linux"', r"wheel\[0\]\.platform: expected one"),
        ('"sm_80" = 3', '"sm_8" = 3', r"containers: expected architectures"),
        ('"sm_80" = 3', '"sm_80" = 0', r"containers\.'sm_80': expected a count"),
        ('cuda = "12.6"', 'cuda = "twelve"', r"wheel\[0\]\.cuda: expected a version"),
        ("measured = 2026-11-30\n", "", r"measured: expected the day"),
        ("yanked = true", 'yanked = "no"', r"release\[1\]\.yanked: expected true or false"),
        ("sha256 =", "sha265 =", r"sha265: expected one of the keys"),
        ('"9.10.2.21"', '"9.5.1.17"', r"release\[1\]\.version: expected each version once"),
        ('package = "nvidia-cudnn-cu12"', 'package = "torch"', r"package: expected"),
        ('cublas = "12.6.3"', 'cublas = "new"', r"built-against\.cublas: expected a version"),
    ],
)
def test_a_fault_names_its_place(folder: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(FactsError, match=message):
        edited(folder, old, new).releases("nvidia-cudnn-cu12")


def test_evidence_is_required_of_a_wheel(folder: Path) -> None:
    path = folder / "nvidia-cudnn-cu12.toml"
    start, _, end = CUDNN.rpartition("metadata-date = 2026-11-30")
    path.write_text(start + end, encoding="utf-8")
    with pytest.raises(FactsError, match=r"release\[1\].*evidence for the wheel"):
        WheelStore(folder=folder).releases("nvidia-cudnn-cu12")
