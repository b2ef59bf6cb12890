"""cuobjdump, NVIDIA's own tool, counts the same images in the libraries of real wheels."""

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from uv import find_uv_bin

from stackfix_knowledge.binaries.elf import is_elf, read_elf
from stackfix_knowledge.binaries.fatbin import Budget, containers
from stackfix_knowledge.binaries.library import is_library
from stackfix_knowledge.hardware import Architecture

pytestmark = [pytest.mark.network, pytest.mark.slow(reason="fetches whole wheels")]

WHEELS = [
    "torchvision==0.22.1",
    "jax-cuda12-plugin==0.6.2",
    "nvidia-curand-cu12==10.3.9.90",
    "nvidia-cusparselt-cu12==0.7.1",
    "nvidia-nccl-cu12==2.27.5",
    "nvidia-cudnn-cu12==9.5.1.17",
    "nvidia-cudnn-cu12==9.10.2.21",
    "nvidia-cublas-cu12==12.8.4.1",
    "nvidia-cusolver-cu12==11.7.3.90",
    "nvidia-cusparse-cu12==12.5.8.93",
    "xformers==0.0.32.post1",
    "torchaudio==2.8.0",
    "nvidia-nvshmem-cu13==3.3.24",
    "torchao==0.18.0",
    "ctranslate2==4.8.5",
    "cupy-cuda13x==14.2.0",
    "faiss-gpu==1.15.1",
    "sglang-kernel==0.4.10",
]
IMAGE = re.compile(r"^Fatbin (elf|ptx) code:\n=+\narch = sm_(\d+[af]?)$", re.MULTILINE)


def install(folder: Path, requirement: str) -> None:
    subprocess.run(
        [find_uv_bin(), "pip", "install", "--quiet", "--no-deps", "--target", str(folder),
         "--python-platform", "x86_64-manylinux_2_28", "--python-version", "3.11", requirement],
        check=True,
    )  # fmt: skip


@pytest.fixture(scope="session")
def cuobjdump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cuobjdump")
    install(folder, "nvidia-cuda-cuobjdump")
    (program,) = folder.glob("nvidia/*/bin/cuobjdump")
    return program


@pytest.mark.parametrize("requirement", WHEELS)
def test_cuobjdump_counts_the_same_images(
    requirement: str, cuobjdump: Path, tmp_path: Path
) -> None:
    install(tmp_path, requirement)
    compared = 0
    for path in tmp_path.rglob("*"):
        if not is_library(path.name):
            continue
        ours: Counter[str] = Counter()
        for images, count in linked(path.read_bytes(), path.name).items():
            ours.update({str(image): count for image in images})
        if ours:
            assert ours == counted(cuobjdump, path), path.name
            compared += 1
    assert compared
    shutil.rmtree(tmp_path)


def linked(data: bytes, name: str) -> Counter[frozenset[Architecture]]:
    """Containers in the sections that cuobjdump reads; it leaves ordinary data out."""
    counts: Counter[frozenset[Architecture]] = Counter()
    for section in read_elf(data, name=name).sections if is_elf(data[:6]) else ():
        if section.name in (".nv_fatbin", "__nv_relfatbin"):
            found = containers(data, section.offset, section.end, name=name, budget=Budget(name))
            counts.update(container.images for container in found)
    return counts


def counted(cuobjdump: Path, library: Path) -> Counter[str]:
    listing = subprocess.run(
        [cuobjdump, "--all-fatbin", library], check=True, capture_output=True, text=True
    ).stdout
    kinds = {"elf": "sm_", "ptx": "compute_"}
    return Counter(f"{kinds[kind]}{target}" for kind, target in IMAGE.findall(listing))
