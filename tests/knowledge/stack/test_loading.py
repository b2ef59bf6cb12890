"""Shared libraries of CUDA: who installs them, and how packages load them."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import pytest
from packaging.version import Version

from stackfix_knowledge.graph import Graph
from stackfix_knowledge.reader import FactsError, read_file
from stackfix_knowledge.stack.loading import LoadingTable, LoadTime
from stackfix_knowledge.wheels.release import WheelFact


@pytest.fixture(scope="module")
def graph() -> Graph:
    return Graph.load()


@pytest.fixture(scope="module")
def table(graph: Graph) -> LoadingTable:
    return graph.loading


@pytest.mark.parametrize(
    ("soname", "package", "version", "installs"),
    [
        ("libcudart.so.12", "nvidia-cuda-runtime-cu12", "12.8.90", True),
        ("libcudart.so.13", "nvidia-cuda-runtime", "13.0.96", True),
        ("libcudart.so.13", "nvidia-cuda-runtime-cu12", "12.8.90", False),
        ("libcudnn.so.8", "nvidia-cudnn-cu12", "8.9.2.26", True),
        ("libcudnn.so.8", "nvidia-cudnn-cu12", "9.1.0.70", False),
        ("libcudnn.so.9", "nvidia-cudnn-cu12", "9.1.0.70", True),
        ("libcudnn.so.9", "nvidia-cudnn-cu13", "9.13.0.50", True),
        ("libnvToolsExt.so.1", "nvidia-nvtx-cu12", "12.8.90", True),
        ("libnvToolsExt.so.1", "nvidia-nvtx-cu12", "12.9.79", False),
        ("libcufft.so.11", "nvidia-cufft-cu12", "11.3.3.83", True),
        ("libcufft.so.11", "nvidia-cufft", "12.0.0.61", False),
    ],
)
def test_a_version_of_a_package_installs_a_library(
    table: LoadingTable, soname: str, package: str, version: str, installs: bool
) -> None:
    library = table.library(soname)
    assert library is not None
    found = [i for i in library.installers if i.package == package]
    assert any(i.installs(Version(version)) for i in found) is installs


@pytest.mark.parametrize(
    ("soname", "majors"),
    [
        ("libcudart.so.11.0", {11}),
        ("libcudart.so.12", {12}),
        ("libcusparse.so.12", {12, 13}),  # CUDA 13 kept the name
        ("libcusolver.so.11", {11, 12}),
        ("libcurand.so.10", {11, 12, 13}),
        ("libnccl.so.2", {11, 12, 13}),
    ],
)
def test_the_number_in_a_name_is_not_always_that_of_the_cuda(
    graph: Graph, soname: str, majors: set[int]
) -> None:
    library = graph.loading.library(soname)
    assert library is not None
    assert graph.cuda_majors(library) == majors


def test_the_driver_installs_libcuda(table: LoadingTable) -> None:
    assert table.library("libcuda.so.1") is None


def test_every_installer_is_a_known_library_package(graph: Graph, table: LoadingTable) -> None:
    for library in table:
        for installer in library.installers:
            package = graph.packages.get(installer.package)
            assert package is not None, installer.package
            assert package.provides is not None, installer.package


def test_every_cuda_library_that_a_measured_torch_asks_for_is_known(graph: Graph) -> None:
    asked = {
        name
        for release in graph.releases("torch")
        for wheel in release.wheels
        for name in wheel.needs
        if re.match(r"lib(cu(da?rt|blas|dnn|fft|file|pti|rand|solver|sparse)|nv|nccl)", name)
    }
    assert len(asked) > 20
    assert [name for name in sorted(asked) if graph.loading.library(name) is None] == []


@pytest.mark.parametrize(
    ("package", "version", "when"),
    [
        ("vllm", "0.22.0", LoadTime.IMPORT),
        ("torchcodec", "0.15.0", LoadTime.IMPORT),
        ("xformers", "0.0.35", LoadTime.PART),
        ("onnxruntime-gpu", "1.22.0", LoadTime.SYSTEM),
        ("cupy-cuda12x", "14.1.1", LoadTime.SYSTEM),
        ("nobody-looked-at-it", "1.0", LoadTime.PART),
    ],
)
def test_packages_load_at_import_in_part_or_from_the_system(
    table: LoadingTable, package: str, version: str, when: LoadTime
) -> None:
    assert table.of(package, Version(version)).when is when


def wheel(platform: str = "linux_x86_64", cuda: str | None = "12.6", **more: object) -> WheelFact:
    version = Version(cuda) if cuda else None
    return WheelFact(file="made.whl", platform=platform, cuda=version, **more)  # type: ignore[arg-type]


def test_pytorchs_builds_ask_for_the_runtime_of_their_cuda(table: LoadingTable) -> None:
    torch = table.of("torch", Version("2.6.0+cu126"))
    assert torch.asks(wheel()) == ("libcudart.so.12",)
    assert torch.asks(wheel(cuda="13.0")) == ("libcudart.so.13",)
    assert torch.asks(wheel("linux_aarch64")) == ()
    assert torch.asks(wheel(cuda=None, cpu_only=True)) == ()


def test_what_is_spared_is_not_asked_for(table: LoadingTable) -> None:
    cupy = table.of("cupy-cuda12x", Version("13.6.0"))
    needs = ("libcublas.so.12", "libcudnn.so.8", "libnccl.so.2")
    assert cupy.asks(wheel(needs=needs)) == ("libcublas.so.12",)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[[loading]]\npackage = "a"\nwhen = "later"\nwithout = "b"\nsource = "s"', "when"),
        ('[[loading]]\npackage = "a"\nwhen = "part"\nsource = "s"', "without"),
        ('[[loading]]\npackage = "a"\nwhen = "part"\nwithout = "b"', "source"),
        ('[[library]]\nsonames = ["a"]\nwheels = { b = "9" }\nsource = "s"', "wheels.b"),
        ('[[library]]\nsonames = ["a"]\npackages = ["b"]\nsource = "s"', "packages"),
    ],
)
def test_a_wrong_fact_is_named(tmp_path: Path, text: str, place: str) -> None:
    file = tmp_path / "loading.toml"
    source = '[sources.s]\nkind = "documented"\nwhere = "x"\ndate = "2026-11-30"\n'
    file.write_text(source + text)
    table = LoadingTable.parse(read_file(file))
    with pytest.raises(FactsError) as caught:
        list(chain(table, table.loadings))
    assert caught.value.place.endswith(place)
