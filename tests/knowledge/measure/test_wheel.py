"""One wheel becomes one fact, from its metadata alone or with its binaries."""

from pathlib import Path

import pytest
from packaging.version import Version

from stackfix_index.errors import Unreadable
from stackfix_index.wheel import Wheel, metadata_of
from stackfix_knowledge.evidence import EvidenceKind
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.measure.wheel import (
    measure_binaries,
    measure_metadata,
    shared_files,
)
from stackfix_knowledge.wheels.coverage import Support
from stackfix_knowledge.wheels.release import WheelFact
from tests.knowledge.measure.building import (
    NCCL_WHEEL,
    elf,
    fatbin,
    metadata,
    nccl_wheel,
    wheel,
)

TORCH = "torch-2.8.0-cp311-cp311-manylinux_2_28_x86_64.whl"
LINUX = 'platform_system == "Linux" and platform_machine == "x86_64"'
REQUIRES = (
    f"nvidia-cuda-runtime-cu12==12.8.90; {LINUX}",
    f"nvidia-cudnn-cu12==9.10.2.21; {LINUX}",
    f"nvidia-nccl-cu12==2.27.3; {LINUX}",
    "sympy>=1.13.3",
)


def of_metadata(
    file: str, name: str, version: str, *requires: str, platform: str = "linux_x86_64"
) -> WheelFact:
    text = metadata(name, version, *(f"Requires-Dist: {line}" for line in requires))
    return measure_metadata(file, text, platform=platform, sha256="ab", date="2026-11-30")


def measured(folder: Path, data: bytes, file: str = NCCL_WHEEL) -> WheelFact:
    path = folder / file
    path.write_bytes(data)
    with Wheel(path, name=file) as archive:
        fact = measure_metadata(
            file, metadata_of(archive), platform="linux_x86_64", sha256=None, date="2026-11-30"
        )
        return measure_binaries(archive, fact, date="2026-11-30")


def test_torch_was_built_with_what_it_pins() -> None:
    fact = of_metadata(TORCH, "torch", "2.8.0", *REQUIRES)
    assert fact.requires == REQUIRES
    assert fact.cuda == Version("12.8")
    assert fact.built_against == {"cudnn": Version("9.10.2.21"), "nccl": Version("2.27.3")}
    assert not fact.cpu_only
    assert fact.coverage is None
    assert [evidence.kind for evidence in fact.evidence] == [EvidenceKind.METADATA]


@pytest.mark.parametrize("platform", ["linux_aarch64", "win_amd64", "macos_arm64"])
def test_torch_that_pins_no_gpu_library_is_for_cpus(platform: str) -> None:
    fact = of_metadata(TORCH, "torch", "2.8.0", *REQUIRES, platform=platform)
    assert fact.cpu_only
    assert fact.cuda is None
    assert fact.built_against == {}


def test_from_torch_2_11_on_the_toolkit_package_tells_cuda() -> None:
    fact = of_metadata(
        "torch-2.11.0-cp311-cp311-manylinux_2_28_aarch64.whl",
        "torch",
        "2.11.0",
        'cuda-toolkit[cublas,cudart]==13.0.2; platform_system == "Linux"',
        platform="linux_aarch64",
    )
    assert fact.cuda == Version("13.0")
    assert not fact.cpu_only


def test_a_package_without_gpu_builds_is_not_called_cpu_only() -> None:
    fact = of_metadata("sympy-1-py3-none-any.whl", "sympy", "1", platform="any")
    assert not fact.cpu_only


@pytest.mark.parametrize(
    ("file", "cuda"),
    [
        ("nvidia_cuda_runtime_cu12-12.8.90-py3-none-any.whl", "12.8"),
        ("nvidia_cuda_nvrtc-13.0.88-py3-none-any.whl", "13.0"),
        ("nvidia_cublas-13.1.0.3-py3-none-any.whl", None),
        ("nvidia_cufft_cu12-11.3.3.83-py3-none-any.whl", None),
    ],
)
def test_only_packages_numbered_like_the_toolkit_tell_it(file: str, cuda: str | None) -> None:
    name, version = file.split("-")[:2]
    fact = of_metadata(file, name, version)
    assert fact.cuda == (Version(cuda) if cuda else None)


def test_binaries_add_coverage_and_what_is_needed(tmp_path: Path) -> None:
    fact = measured(tmp_path, nccl_wheel())
    assert fact.coverage is not None
    (library,) = fact.coverage.libraries
    assert library.name == "nvidia/nccl/lib/libnccl.so.2"
    assert sum(library.containers.values()) == 2
    assert fact.needs == ("libcudart.so.12",)
    assert [evidence.kind for evidence in fact.evidence] == [
        EvidenceKind.METADATA,
        EvidenceKind.MEASURED,
    ]


def test_the_language_of_its_ptx_tells_the_toolkit(tmp_path: Path) -> None:
    fact = measured(tmp_path, nccl_wheel())
    assert fact.cuda == Version("12.8")
    assert fact.coverage is not None
    assert fact.coverage.toolkit == Version("12.8")


def test_without_ptx_the_runtime_it_needs_tells_the_major(tmp_path: Path) -> None:
    data = wheel(
        {
            "x/_C.abi3.so": elf({".nv_fatbin": fatbin("sm_80 sm_90")}, needed=["libcudart.so.13"]),
            "x-1.dist-info/METADATA": metadata("x", "1"),
        }
    )
    assert measured(tmp_path, data, "x-1-py3-none-any.whl").cuda == Version("13")


@pytest.mark.parametrize(
    ("code", "file", "cuda"),
    [
        ("sm_80 sm_120", "x-1-py3-none-any.whl", "12.8"),
        ("sm_80 sm_121", "x-1-py3-none-any.whl", "12.9"),
        ("sm_80 sm_110", "x-1-py3-none-any.whl", "13.0"),
        ("sm_80 sm_86", "x-1-py3-none-any.whl", None),
        ("sm_80 sm_86", "x_cu12-1-py3-none-any.whl", "12"),
        ("sm_80 sm_86", "cupy_cuda13x-1-py3-none-any.whl", "13"),
    ],
)
def test_without_ptx_the_newest_card_and_the_name_tell(
    tmp_path: Path, code: str, file: str, cuda: str | None
) -> None:
    name = file.partition("-")[0]
    data = wheel(
        {
            f"{name}/lib.so": elf({".nv_fatbin": fatbin(code)}),
            f"{name}-1.dist-info/METADATA": metadata(name, "1"),
        }
    )
    assert measured(tmp_path, data, file).cuda == (Version(cuda) if cuda else None)


def test_of_two_equal_answers_the_more_exact_one_counts(tmp_path: Path) -> None:
    code = {".nv_fatbin": fatbin("sm_80 compute_90", ptx=(9, 0))}
    data = wheel(
        {
            "x/_C.so": elf(code, needed=["libcudart.so.13"]),
            "x-1.dist-info/METADATA": metadata("x", "1"),
        }
    )
    assert str(measured(tmp_path, data, "x-1-py3-none-any.whl").cuda) == "13.0"


def test_ptx_of_an_old_language_does_not_hide_a_newer_toolkit(tmp_path: Path) -> None:
    """cuFFT 11.3.3.83 of CUDA 12.8 carries PTX that 11.8 could have written."""
    code = fatbin("sm_50 compute_50", "sm_100", ptx=(7, 8))
    data = wheel(
        {
            "nvidia/cufft/lib/libcufft.so.11": elf({".ldata": code}),
            "nvidia_cufft_cu12-11.3.3.83.dist-info/METADATA": metadata("nvidia-cufft-cu12", "1"),
        }
    )
    fact = measured(tmp_path, data, "nvidia_cufft_cu12-11.3.3.83-py3-none-any.whl")
    assert fact.cuda == Version("12.8")


def test_a_wheel_for_several_runtimes_has_no_one_toolkit(tmp_path: Path) -> None:
    code = {".nv_fatbin": fatbin("sm_80 sm_90 compute_90")}
    data = wheel(
        {
            "x/libx_cuda126.so": elf(code, needed=["libcudart.so.12"]),
            "x/libx_cuda130.so": elf(code, needed=["libcudart.so.13"]),
            "x-1.dist-info/METADATA": metadata("x", "1"),
        }
    )
    assert measured(tmp_path, data, "x-1-py3-none-any.whl").cuda is None


def test_libraries_of_the_wheel_itself_are_not_needed_from_outside(tmp_path: Path) -> None:
    data = wheel(
        {
            "x/lib/libc10.so": elf(soname="libc10.so"),
            "x/lib/libold.so.1": elf(soname="libnew.so"),
            "x/_C.so": elf(needed=["libc10.so", "libnew.so", "libcudnn.so.9", "libm.so.6"]),
            "x-1.dist-info/METADATA": metadata("x", "1"),
        }
    )
    assert measured(tmp_path, data, "x-1-py3-none-any.whl").needs == ("libcudnn.so.9",)


def test_a_wheel_without_gpu_code_is_measured_all_the_same(tmp_path: Path) -> None:
    data = wheel({"x/_C.so": elf(), "x-1.dist-info/METADATA": metadata("x", "1")})
    coverage = measured(tmp_path, data, "x-1-py3-none-any.whl").coverage
    assert coverage is not None
    assert not coverage.has_device_code
    assert coverage.support(ComputeCapability(12, 0)) is Support.SUPPORTED


@pytest.mark.parametrize(("name", "cpu_only"), [("torchvision", True), ("torchcodec", False)])
def test_a_package_with_gpu_builds_is_for_cpus_where_it_has_no_gpu_code(
    tmp_path: Path, name: str, cpu_only: bool
) -> None:
    data = wheel({f"{name}/_C.so": elf(), f"{name}-1.dist-info/METADATA": metadata(name, "1")})
    fact = measured(tmp_path, data, f"{name}-1-cp311-cp311-manylinux_2_28_aarch64.whl")
    assert fact.cpu_only is cpu_only


def test_a_file_called_so_that_is_none_is_left_out(tmp_path: Path) -> None:
    data = wheel({"x/lib.so": "INPUT(-lfoo)", "x-1.dist-info/METADATA": metadata("x", "1")})
    assert measured(tmp_path, data, "x-1-py3-none-any.whl").coverage is not None


def test_a_damaged_library_is_named(tmp_path: Path) -> None:
    broken = elf({".nv_fatbin": fatbin("sm_80")[:40]})
    data = wheel({"x/lib.so": broken, "x-1.dist-info/METADATA": metadata("x", "1")})
    with pytest.raises(Unreadable, match=r"x/lib\.so: offset \d+: expected a container"):
        measured(tmp_path, data, "x-1-py3-none-any.whl")


def test_assemblers_are_read_once_each(tmp_path: Path) -> None:
    program = b"\x7fELF\0sm_120\0release 12.8, V12.8.93\0"
    data = wheel(
        {
            "t/bin/ptxas": program,
            "t/bin/ptxas-blackwell": program,
            "t-1.dist-info/METADATA": metadata("t", "1"),
        }
    )
    (ptxas,) = measured(tmp_path, data, "t-1-py3-none-any.whl").ptxas
    assert (ptxas.cuda, ptxas.targets) == ("12.8.93", ("sm_120",))


def test_a_wheel_without_metadata_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="expected a wheel with METADATA in it"):
        measured(tmp_path, wheel({"x/METADATA": ""}), "x-1-py3-none-any.whl")


def test_files_that_nvidias_packages_share() -> None:
    names = ["nvidia/nccl/lib/libnccl.so.2", "nvidia/nccl/include/nccl.h", "torch/lib/libtorch.so"]
    assert shared_files(names) == ("nvidia/nccl/lib/libnccl.so.2",)
