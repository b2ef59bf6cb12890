"""What the builds on PyTorch's own indexes require, as documented."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.reader import Entry, FactsError
from stackfix_knowledge.stack.packages import package_table
from stackfix_knowledge.wheels.index_pins import PinTable, parse_pins

X86 = {"platform_system": "Linux", "platform_machine": "x86_64"}
ARM = {"platform_system": "Linux", "platform_machine": "aarch64"}
WINDOWS = {"platform_system": "Windows", "platform_machine": "AMD64"}
SOURCES = {"s": Evidence(kind=EvidenceKind.DOCUMENTED, source="a document")}


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph.load()


def lines(graph: Graph, package: str, version: str) -> tuple[str, ...]:
    release = graph.release(package, version)
    assert release is not None
    (requires,) = {wheel.requires for wheel in release.wheels}
    assert requires is not None
    return requires


def required(
    graph: Graph, version: str, machine: Mapping[str, str], python: str = "3.12"
) -> dict[str, str]:
    """The GPU libraries that torch installs there, with their versions."""
    found = map(Requirement, lines(graph, "torch", version))
    return {
        line.name: str(line.specifier)
        for line in found
        if line.name.startswith(("nvidia-", "cuda-", "triton"))
        and (line.marker is None or line.marker.evaluate({**machine, "python_version": python}))
    }


@pytest.mark.parametrize(
    ("version", "cudnn", "nccl"),
    [
        ("2.2.2+cu118", "nvidia-cudnn-cu11==8.7.0.84", "nvidia-nccl-cu11==2.19.3"),
        ("2.4.1+cu124", "nvidia-cudnn-cu12==9.1.0.70", "nvidia-nccl-cu12==2.20.5"),
        ("2.5.1+cu118", "nvidia-cudnn-cu11==9.1.0.70", "nvidia-nccl-cu11==2.21.5"),
        ("2.6.0+cu126", "nvidia-cudnn-cu12==9.5.1.17", "nvidia-nccl-cu12==2.21.5"),
        ("2.7.1+cu128", "nvidia-cudnn-cu12==9.7.1.26", "nvidia-nccl-cu12==2.26.2"),
        ("2.8.0+cu129", "nvidia-cudnn-cu12==9.10.2.21", "nvidia-nccl-cu12==2.27.3"),
        ("2.9.1+cu130", "nvidia-cudnn-cu13==9.13.0.50", "nvidia-nccl-cu13==2.27.7"),
        ("2.10.0+cu130", "nvidia-cudnn-cu13==9.15.1.9", "nvidia-nccl-cu13==2.28.9"),
        ("2.12.1+cu126", "nvidia-cudnn-cu12==9.10.2.21", "nvidia-nccl-cu12==2.29.3"),
        ("2.14.1+cu132", "nvidia-cudnn-cu13==9.24.0.43", "nvidia-nccl-cu13==2.30.7"),
    ],
)
def test_each_build_pins_its_own_cudnn_and_nccl(
    graph: Graph, version: str, cudnn: str, nccl: str
) -> None:
    found = {f"{name}{specifier}" for name, specifier in required(graph, version, X86).items()}
    assert {cudnn, nccl} <= found
    release = graph.release("torch", version)
    assert release is not None
    assert release.wheels[0].built_against["cudnn"] == Version(cudnn.partition("==")[2])


def test_every_build_that_is_offered_has_pins_and_no_others_have(graph: Graph) -> None:
    offered = {(b.torch, b.home) for b in graph.indexes.builds if b.confirmed}
    assert {(pins.torch, pins.home) for pins in PinTable.load()} == offered


@pytest.mark.parametrize("package", package_table().on_pytorch_indexes)
def test_the_requirements_of_every_release_on_the_indexes_are_known(
    graph: Graph, package: str
) -> None:
    for release in graph.releases(package):
        if release.home is not None:
            for line in lines(graph, package, str(release.version)):
                Requirement(line)


def test_libraries_of_two_cuda_majors_never_meet(graph: Graph) -> None:
    for release in graph.releases("torch"):
        if release.home not in (None, "cpu"):
            names = required(graph, str(release.version), X86)
            majors = {name[-4:] for name in names if name[-4:] in ("cu11", "cu12", "cu13")}
            assert len(majors) <= 1, release.version


def test_the_same_pins_as_the_default_index_only_for_its_cuda(graph: Graph) -> None:
    builds = {(build.torch, build.home): build for build in graph.indexes.builds}
    for pins in PinTable.load():
        if pins.libraries is None:
            build = builds[pins.torch, pins.home]
            for version in build.versions:
                usual = graph.release("torch", version)
                assert usual is not None
                wheel = usual.wheel("linux_x86_64")
                assert wheel is not None
                assert wheel.cuda == build.cuda


def test_patch_releases_of_the_default_index_pin_alike(graph: Graph) -> None:
    """So that what was documented of one patch release is that of its siblings."""
    seen: dict[str, set[str]] = {}
    for build in graph.indexes.builds:
        if not build.confirmed:
            continue
        for version in build.versions:
            release = graph.release("torch", version)
            assert release is not None
            wheel = release.wheel("linux_x86_64")
            assert wheel is not None
            own = {x for x in wheel.requires or () if x.startswith(("nvidia-", "cuda-"))}
            assert seen.setdefault(build.torch, own) == own


def test_where_the_script_names_x86_64_the_aarch64_builds_hold_their_libraries(
    graph: Graph,
) -> None:
    assert required(graph, "2.7.1+cu126", ARM) == {}
    assert required(graph, "2.7.1+cu128", ARM) == {"triton": "==3.3.1"}
    assert required(graph, "2.9.1+cu128", ARM) == required(graph, "2.9.1+cu128", X86)
    assert "nvidia-nccl-cu13" in required(graph, "2.10.0+cu130", ARM)


def test_builds_for_windows_hold_their_libraries(graph: Graph) -> None:
    for release in graph.releases("torch"):
        if release.home is not None:
            assert required(graph, str(release.version), WINDOWS) == {}


@pytest.mark.parametrize("version", ["1.13.1+cu117", "2.0.1+cu118", "2.1.2+cu121"])
def test_old_builds_hold_their_libraries_and_ask_for_triton_at_most(
    graph: Graph, version: str
) -> None:
    assert set(required(graph, version, X86, "3.10")) <= {"triton"}


def test_from_2_11_on_the_toolkit_is_asked_for_with_extras(graph: Graph) -> None:
    (toolkit,) = (x for x in lines(graph, "torch", "2.11.0+cu128") if x.startswith("cuda-toolkit"))
    requirement = Requirement(toolkit)
    assert {"cublas", "cudart", "nvjitlink"} <= requirement.extras
    assert str(requirement.specifier) == "==12.8.1"


def test_a_condition_of_its_own_stays_beside_the_platform(graph: Graph) -> None:
    assert "cuda-bindings" in required(graph, "2.14.0+cu126", X86, "3.14")
    assert "cuda-bindings" not in required(graph, "2.14.0+cu126", X86, "3.15")


def test_what_is_not_cuda_is_that_of_the_default_index(graph: Graph) -> None:
    usual = graph.release("torch", "2.8.0")
    assert usual is not None
    wheel = usual.wheel("linux_x86_64")
    assert wheel is not None
    assert wheel.requires is not None
    others = {x for x in wheel.requires if not x.startswith(("nvidia-", "cuda-"))}
    assert others <= set(lines(graph, "torch", "2.8.0+cu126"))
    build = graph.release("torch", "2.8.0+cu126")
    assert build is not None
    assert build.wheels[0].requires_python == wheel.requires_python


def test_the_cpu_build_asks_for_no_gpu_library(graph: Graph) -> None:
    assert required(graph, "2.8.0+cpu", X86) == {}
    assert "filelock" in lines(graph, "torch", "2.8.0+cpu")


@pytest.mark.parametrize(
    ("package", "version", "torch"),
    [
        ("torchvision", "0.22.1+cu128", "2.7.1"),
        ("torchvision", "0.15.1+cu118", "2.0.0"),
        ("torchaudio", "2.7.1+cu118", "2.7.1"),
        ("torchvision", "0.23.0+cpu", "2.8.0"),
    ],
)
def test_companions_name_the_public_version_of_their_torch(
    graph: Graph, package: str, version: str, torch: str
) -> None:
    (line,) = (r for r in map(Requirement, lines(graph, package, version)) if r.name == "torch")
    assert line.specifier.contains(f"{torch}+cu128")
    assert str(line.specifier) == f"=={torch}"


def test_the_requirements_carry_their_sources(graph: Graph) -> None:
    release = graph.release("torch", "2.7.1+cu128")
    assert release is not None
    sources = [item.source for item in release.wheels[0].evidence]
    assert any("generate_binary_build_matrix.py" in source for source in sources)
    assert all(
        item.kind is not EvidenceKind.MEASURED for pins in PinTable.load() for item in pins.evidence
    )


@pytest.mark.parametrize(
    ("table", "place"),
    [
        ({"requires": ["nvidia-x==1"]}, "pins[0].on"),
        ({"requires": ["nvidia-x==1"], "on": "windows"}, "pins[0].on"),
        ({"requires": ["numpy==1"], "on": "linux"}, "pins[0].requires[0]"),
        ({"bundled": True, "on": "linux"}, "pins[0].bundled"),
        ({"triton-on": "sparc"}, "pins[0].triton-on"),
        ({"source": []}, "pins[0].source"),
        ({"versions": ["2.7.1"]}, "pins[0].versions"),
    ],
)
def test_a_wrong_table_is_refused_with_its_place(table: dict[str, object], place: str) -> None:
    whole = {"torch": "2.7", "index": "cu128", "source": "s", **table}
    with pytest.raises(FactsError) as caught:
        parse_pins(Entry(whole, "pins.toml", "pins[0]"), SOURCES)
    assert caught.value.place == place
