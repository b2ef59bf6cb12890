"""SF304: libraries of CUDA that nothing in the environment installs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece
from stackfix.rules.sf304_missing_library import MissingLibrary
from stackfix_lockfiles.environment import Environment
from stackfix_lockfiles.platforms import Platform
from tests.resolver.making import graph, piece, stack, target, wheel

CUDA_12 = ("nvidia-cuda-runtime-cu12==12.8.90", "nvidia-cublas-cu12==12.8.4.1")
CUDA_13 = ("nvidia-cuda-runtime==13.0.96", "nvidia-cuda-nvrtc==13.0.88")


def known(*names: str) -> list[Piece]:
    """Packages as the facts have them: "vllm==0.22.0"."""
    pieces = []
    for name in names:
        package = graph().packages.get(name.partition("==")[0])
        assert package is not None, name
        version = Version(name.partition("==")[2])
        pieces.append(Piece.known(graph(), package, version, "linux_x86_64"))
    return pieces


def found(
    *pieces: Piece, platform: str = "linux_x86_64", environment: Environment | None = None
) -> list[Finding]:
    made = replace(stack(*pieces), platform=platform, environment=environment)
    return list(MissingLibrary().judge(made, target("RTX 5090"), graph()))


def test_a_vllm_of_cuda_13_finds_no_runtime_beside_a_torch_of_cuda_12() -> None:
    (finding,) = found(*known("vllm==0.22.0", "torch==2.11.0+cu128", *CUDA_12))
    assert (finding.package, finding.severity) == ("vllm", Severity.ERROR)
    assert "libcudart.so.13" in finding.message
    assert "nvidia-cuda-runtime" in finding.message
    assert "which holds CUDA 12," in finding.message
    assert any("44335" in evidence.source for evidence in finding.evidence)


def test_it_finds_it_beside_a_torch_of_cuda_13() -> None:
    assert not found(*known("vllm==0.22.0", "torch==2.11.0+cu130"))
    torch = piece("torch", "2.11.0", wheel(cuda="13.0", needs=("libcudart.so.13",)))
    assert not found(torch, *known("vllm==0.22.0", *CUDA_13))


def test_a_runtime_that_another_framework_brings_will_do() -> None:
    torch = piece("torch", "2.11.0", wheel(cuda="13.0", needs=("libcudart.so.13",)))
    assert not found(torch, *known("vllm==0.19.1", *CUDA_12, *CUDA_13))
    (finding,) = found(torch, *known("vllm==0.19.1", *CUDA_13))
    assert "libcudart.so.12" in finding.message


def test_torchcodec_0_11_0_asks_for_npp_which_torch_does_not_bring() -> None:
    torch = piece("torch", "2.11.0", wheel(cuda="13.0", needs=("libcudart.so.13",)))
    (finding,) = found(torch, *known("torchcodec==0.11.0", *CUDA_13))
    assert "asks for libnppicc.so.13, and" in finding.message
    assert not found(torch, *known("torchcodec==0.11.1", *CUDA_13))


def test_a_transformer_engine_for_cuda_12_was_built_with_13() -> None:
    """NVIDIA/TransformerEngine#2040; 2.6.0.post1 is the build that was meant."""
    beside = known("torch==2.8.0+cu128", *CUDA_12)
    (finding,) = found(*known("transformer-engine-cu12==2.6.0"), *beside)
    assert "libcublas.so.13" in finding.message
    assert not found(*known("transformer-engine-cu12==2.6.0.post1"), *beside)


def test_a_package_with_a_library_for_each_cuda_takes_the_one_that_is_there() -> None:
    several = wheel(needs=("libcudart.so.11.0", "libcudart.so.12", "libcublas.so.12"))
    kernels = piece("sgl-kernel", "0.3.0", several)
    assert not found(kernels, *known("torch==2.8.0+cu128", *CUDA_12))
    (finding,) = found(kernels, *known("torch==2.11.0+cu130"))
    assert finding.severity is Severity.ERROR


def test_the_library_that_bitsandbytes_loads_is_anothers_matter() -> None:
    assert not found(*known("bitsandbytes==0.43.0", "torch==2.11.0+cu130"))


def test_what_goes_on_without_its_kernels_is_warned_of() -> None:
    (finding,) = found(*known("xformers==0.0.34", "torch==2.11.0+cu130"))
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize(
    ("beside", "severity"),
    [
        ((), Severity.INFO),  # an image may well bring CUDA
        (("torch==2.11.0+cu130",), Severity.WARNING),
    ],
)
def test_what_takes_cuda_from_the_system_is_noted(
    beside: tuple[str, ...], severity: Severity
) -> None:
    (finding,) = found(*known("onnxruntime-gpu==1.22.0", *beside))
    assert finding.severity is severity
    assert "cuda and cudnn" in (finding.fix or "")
    assert not found(*known("onnxruntime-gpu==1.22.0", "torch==2.8.0+cu128"))


def test_cudnn_8_does_not_do_for_cudnn_9() -> None:
    asks = wheel(needs=("libcudnn.so.9",))
    old = known("nvidia-cudnn-cu12==8.9.2.26", *CUDA_12)
    assert found(piece("transformer-engine-cu12", "2.15.0", asks), *old)
    new = known("nvidia-cudnn-cu12==9.10.2.21", *CUDA_12)
    assert not found(piece("transformer-engine-cu12", "2.15.0", asks), *new)


def test_tensorflow_without_its_cuda_is_noted() -> None:
    (finding,) = found(*known("tensorflow==2.18.0"))
    assert (finding.severity, finding.fix) == (Severity.INFO, "its extra and-cuda installs them")
    cuda = known("nvidia-cublas-cu12==12.5.3.2", "nvidia-cudnn-cu12==9.3.0.75")
    assert not found(*known("tensorflow==2.18.0"), *cuda)


def test_nothing_is_said_where_torch_is_a_build_that_nobody_looked_at() -> None:
    assert not found(piece("torch", "2.11.0"), *known("vllm==0.22.0"))


def test_nothing_is_said_where_torch_comes_from_outside_the_lock() -> None:
    asks = wheel(needs=("libtorch_cuda.so", "libcudart.so.13"))
    assert not found(piece("vllm", "0.22.0", asks))


def test_a_torch_that_holds_cuda_inside_brings_it() -> None:
    inside = piece("torch", "1.12.1", wheel(cuda="12.1"))
    assert not found(inside, piece("xformers", "0.0.27", wheel(needs=("libcudart.so.12",))))


def test_windows_has_other_libraries() -> None:
    pieces = known("vllm==0.22.0", "torch==2.11.0+cu128")
    assert not found(*pieces, platform="win_amd64")


@pytest.mark.parametrize(("locked", "count"), [(True, 1), (False, 0)])
def test_a_lock_without_the_runtime_that_torch_asks_for(locked: bool, count: int) -> None:
    """In a lock all packages can be seen; of a combination of the solver, uv adds torch's own."""
    torch = known("torch==2.6.0+cu126")
    assert len(found(*torch, environment=environment() if locked else None)) == count
    assert not found(*torch, *known(*CUDA_12), environment=environment())


def test_a_list_of_requirements_may_leave_out_what_the_installer_adds() -> None:
    pieces = known("torch==2.8.0", "vllm==0.11.0")
    assert found(*pieces, environment=environment())
    assert not found(*pieces, environment=environment(open_ended=True))
    frozen = known("torch==2.11.0+cu128", "vllm==0.22.0", *CUDA_12)
    assert found(*frozen, environment=environment(open_ended=True))


def environment(*, open_ended: bool = False) -> Environment:
    """An environment of a lock, for rules that ask whether there is one."""
    return Environment(
        platform=Platform.parse("linux_x86_64"),
        python="3.11.9",
        extras_on={},
        groups=frozenset(),
        roots=(),
        packages={},
        links=(),
        open_ended=open_ended,
        _parents={},
    )


def test_a_default_torch_beside_what_its_metadata_asks_for_lacks_nothing() -> None:
    measured = [
        release.version
        for release in graph().releases("torch")
        if release.home is None
        and (fact := release.wheel("linux_x86_64"))
        and any(graph().loading.library(name) for name in fact.needs)
    ]
    assert len(measured) > 20
    for version in measured:
        pieces = closure(f"torch=={version}")
        assert len(pieces) > 4
        assert found(*pieces) == []


def closure(*requirements: str) -> list[Piece]:
    """The packages that requirements with exact pins lead to, as far as they are of the stack."""
    markers = {
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "python_version": "3.11",
        "python_full_version": "3.11.9",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "os_name": "posix",
    }
    pieces: dict[str, Piece] = {}
    queue = [Requirement(text) for text in requirements]
    seen: set[str] = set()
    while queue:
        wanted = queue.pop()
        if str(wanted) in seen or wanted.name not in graph().packages:
            continue
        seen.add(str(wanted))
        fitting = [
            release.version
            for release in graph().releases(wanted.name)
            if release.home is None and wanted.specifier.contains(release.version)
        ]
        pinned = str(wanted.specifier).removeprefix("==")
        (made,) = known(f"{wanted.name}=={max(fitting) if fitting else pinned}")
        pieces[wanted.name] = made
        lines = made.wheel.requires if made.wheel and made.wheel.requires else ()
        for extra in ("", *wanted.extras):
            queue += [
                requirement
                for requirement in map(Requirement, lines)
                if requirement.marker is None
                or requirement.marker.evaluate({**markers, "extra": extra})
            ]
    return list(pieces.values())
