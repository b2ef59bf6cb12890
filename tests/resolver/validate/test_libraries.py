"""Which copies of NVIDIA's libraries a process really has, and what they say of themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stackfix.validate.kernels import cuda_libraries
from stackfix.validate.result import Outcome, StageResult
from tests.resolver.validate.kernels import run_kernel
from tests.resolver.validate.libraries import build, needs_compiler

_FRAMEWORK = "import ctypes\n{loads}\n"


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("libcudnn.so.9", "cudnn"),
        ("libcudnn_engines_precompiled.so.9", "cudnn"),
        ("libcudnn.so.9.5.1", "cudnn"),
        ("libnccl.so.2", "nccl"),
        ("libcudart-d0da41ae.so.11.0", "cudart"),
        ("libcublasLt.so.12", "cublas"),
        ("libnvJitLink.so.12", "nvjitlink"),
        ("libnvrtc-builtins.so.12.8", None),
        ("libcudnn_frontend.txt", None),
        ("libtorch_cuda.so", None),
        ("libcusparseLt.so.0", None),
    ],
)
def test_a_file_name_tells_the_library(name: str, family: str | None) -> None:
    assert cuda_libraries.family_of(name) == family


@pytest.mark.parametrize(
    ("found", "package", "differs"),
    [
        ((9, 5, 1), "9.5.1.17", False),
        ((9, 5, 0), "9.5.1.17", True),
        ((12, 8), "12.8.90", False),
        ((2, 26, 2), "2.26.2.post1", False),
        ((2, 27, 3), "2.26.2.post1", True),
    ],
)
def test_a_library_has_the_version_of_its_package(
    found: tuple[int, ...], package: str, differs: bool
) -> None:
    assert cuda_libraries.differs(found, package) is differs


def _site(folder: Path, loads: str = "") -> Path:
    """A folder with packages: cuDNN 9.5.1, NCCL 2.26.2 and a framework that loads `loads`."""
    site = folder / "site-packages"
    build(site / "nvidia/cudnn/lib/libcudnn.so.9", 90501)
    build(site / "nvidia/nccl/lib/libnccl.so.2", 22602)
    (site / "torch.py").write_text(_FRAMEWORK.format(loads=loads))
    return site


def _load(path: Path | str) -> str:
    return f"ctypes.CDLL({str(path)!r})"


def _libraries(
    folder: Path, site: Path, *, expect: dict[str, list[str]] | None = None, **env: str
) -> StageResult:
    return run_kernel(
        "libraries",
        folder,
        "--module",
        "torch",
        "--site",
        str(site),
        "--expect",
        json.dumps(expect or {}),
        env={"PYTHONPATH": str(site), **env},
    )


def _details(result: StageResult) -> dict[str, str]:
    return {check.name: check.detail for check in result.checks}


@needs_compiler
def test_the_environments_own_copy_is_right(tmp_path: Path) -> None:
    site = _site(tmp_path)
    own = site / "nvidia/cudnn/lib/libcudnn.so.9"
    (site / "torch.py").write_text(_FRAMEWORK.format(loads=_load(own)))
    result = _libraries(tmp_path, site, expect={"cudnn": ["nvidia-cudnn-cu12", "9.5.1.17"]})
    assert result.outcome is Outcome.PASSED, result.reason
    assert _details(result)["cudnn"] == f"9.5.1 from {own}"


@needs_compiler
def test_a_system_copy_that_shadows_the_wheels_fails(tmp_path: Path) -> None:
    system = build(tmp_path / "system/libcudnn.so.9", 80907)
    site = _site(tmp_path, _load("libcudnn.so.9"))
    result = _libraries(tmp_path, site, LD_LIBRARY_PATH=str(system.parent))
    assert result.outcome is Outcome.FAILED
    assert f"the process loaded {system} in place of the environment's" in result.reason
    assert "LD_LIBRARY_PATH" in result.reason


@needs_compiler
def test_a_copy_in_ld_library_path_is_told_before_it_does_harm(tmp_path: Path) -> None:
    system = build(tmp_path / "system/libcudnn.so.9", 80907)
    site = _site(tmp_path)
    result = _libraries(tmp_path, site, LD_LIBRARY_PATH=f"{system.parent}:/none")
    assert result.outcome is Outcome.FAILED
    assert "take the folder out of LD_LIBRARY_PATH" in result.reason


@needs_compiler
def test_a_copy_in_ld_library_path_of_what_is_loaded_already_is_a_remark(tmp_path: Path) -> None:
    system = build(tmp_path / "system/libnccl.so.2", 22000)
    site = _site(tmp_path)
    own = site / "nvidia/nccl/lib/libnccl.so.2"
    (site / "torch.py").write_text(_FRAMEWORK.format(loads=_load(own)))
    result = _libraries(tmp_path, site, LD_LIBRARY_PATH=str(system.parent))
    assert result.outcome is Outcome.PASSED, result.reason
    assert "holds another" in _details(result)["LD_LIBRARY_PATH, libnccl.so.2"]


@needs_compiler
def test_a_part_of_cudnn_in_ld_library_path_fails(tmp_path: Path) -> None:
    """cuDNN loads it only with the first convolution, and then takes that one."""
    system = tmp_path / "system/libcudnn_ops.so.9"
    system.parent.mkdir()
    system.write_bytes(b"")
    site = _site(tmp_path)
    own = site / "nvidia/cudnn/lib/libcudnn.so.9"
    (site / "torch.py").write_text(_FRAMEWORK.format(loads=_load(own)))
    result = _libraries(tmp_path, site, LD_LIBRARY_PATH=str(system.parent))
    assert result.outcome is Outcome.FAILED
    assert "holds another libcudnn_ops.so.9" in result.reason


@needs_compiler
def test_two_copies_of_cudnn_in_one_process_fail(tmp_path: Path) -> None:
    site = _site(tmp_path)
    other = build(site / "torch_extra/lib/libcudnn.so.9", 90100)
    own = site / "nvidia/cudnn/lib/libcudnn.so.9"
    (site / "torch.py").write_text(_FRAMEWORK.format(loads=f"{_load(own)}\n{_load(other)}"))
    result = _libraries(tmp_path, site)
    assert result.outcome is Outcome.FAILED
    assert "2 copies of libcudnn in one process" in result.reason


@needs_compiler
def test_links_to_one_file_are_one_copy(tmp_path: Path) -> None:
    site = _site(tmp_path)
    own = site / "nvidia/cudnn/lib/libcudnn.so.9"
    link = site / "torch_lib/libcudnn.so.9"
    link.parent.mkdir()
    link.symlink_to(own)
    (site / "torch.py").write_text(_FRAMEWORK.format(loads=f"{_load(own)}\n{_load(link)}"))
    assert _libraries(tmp_path, site).outcome is Outcome.PASSED


@needs_compiler
def test_another_version_than_the_locks_fails(tmp_path: Path) -> None:
    site = _site(tmp_path)
    own = site / "nvidia/cudnn/lib/libcudnn.so.9"
    (site / "torch.py").write_text(_FRAMEWORK.format(loads=_load(own)))
    result = _libraries(tmp_path, site, expect={"cudnn": ["nvidia-cudnn-cu12", "9.8.0.87"]})
    assert result.outcome is Outcome.FAILED
    assert f"{own} is 9.5.1, the lock has nvidia-cudnn-cu12 9.8.0.87" in result.reason


@pytest.mark.parametrize(
    ("family", "number", "version"),
    [
        ("cudnn", 8907, (8, 9, 7)),
        ("cudnn", 90501, (9, 5, 1)),
        ("cudnn", 91002, (9, 10, 2)),
        ("nccl", 2804, (2, 8, 4)),
        ("nccl", 20906, (2, 9, 6)),
        ("nccl", 23007, (2, 30, 7)),
        ("cudart", 11080, (11, 8)),
        ("cudart", 13020, (13, 2)),
    ],
)
@needs_compiler
def test_a_number_is_read_as_the_library_means_it(
    family: str, number: int, version: tuple[int, ...], tmp_path: Path
) -> None:
    """cuDNN changed its scale with 9.0, NCCL with 2.9."""
    names = {"cudnn": "libcudnn.so.9", "nccl": "libnccl.so.2", "cudart": "libcudart.so.12"}
    library = build(tmp_path / names[family], number)
    assert cuda_libraries.version_of(family, str(library)) == version


@needs_compiler
def test_a_runtime_that_wants_a_driver_to_tell_its_version_is_skipped(tmp_path: Path) -> None:
    """CUDA 11's does, and returns 35; CUDA 12's needs none."""
    site = tmp_path / "site-packages"
    build(site / "nvidia/cuda_runtime/lib/libcudart.so.11.0", 35)
    result = _versions(tmp_path, site, {"cudart": ["nvidia-cuda-runtime-cu11", "11.8.89"]})
    assert result.outcome is Outcome.SKIPPED
    assert result.reason == "the library does not tell its version"


def _versions(folder: Path, site: Path, expect: dict[str, list[str]]) -> StageResult:
    return run_kernel("versions", folder, "--site", str(site), "--expect", json.dumps(expect))


@needs_compiler
def test_versions_at_run_time_are_compared_with_the_lock(tmp_path: Path) -> None:
    site = _site(tmp_path)
    build(site / "nvidia/cuda_runtime/lib/libcudart.so.12", 12080)
    build(site / "nvidia/cublas/lib/libcublas.so.12", 1284)
    right = {
        "cudnn": ["nvidia-cudnn-cu12", "9.5.1.17"],
        "nccl": ["nvidia-nccl-cu12", "2.26.2.post1"],
        "cudart": ["nvidia-cuda-runtime-cu12", "12.8.90"],
        "cublas": ["nvidia-cublas-cu12", "12.8.4.1"],
    }
    result = _versions(tmp_path, site, right)
    assert result.outcome is Outcome.PASSED, result.reason
    assert _details(result)["nvidia-cublas-cu12"] == "12.8.4"
    wrong = _versions(tmp_path, site, {**right, "nccl": ["nvidia-nccl-cu12", "2.27.3"]})
    assert wrong.outcome is Outcome.FAILED
    assert "libnccl.so.2 is 2.26.2, the lock has 2.27.3" in wrong.reason


@needs_compiler
def test_a_library_that_cannot_be_loaded_fails(tmp_path: Path) -> None:
    site = _site(tmp_path)
    (site / "nvidia/nccl/lib/libnccl.so.2").write_bytes(b"no library at all")
    result = _versions(tmp_path, site, {"nccl": ["nvidia-nccl-cu12", "2.26.2"]})
    assert result.outcome is Outcome.FAILED
    assert "libnccl.so.2" in result.reason
