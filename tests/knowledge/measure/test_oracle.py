"""cuobjdump, NVIDIA's own tool, counts the same images in the libraries of real wheels."""

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from stackfix_knowledge.measure.inspect import inspect_path

pytestmark = [pytest.mark.network, pytest.mark.slow]

WHEELS = [
    "torchvision==0.22.1",
    "jax-cuda12-plugin==0.6.2",
    "nvidia-curand-cu12==10.3.9.90",
    "nvidia-nccl-cu12==2.27.5",
    "nvidia-cudnn-cu12==9.5.1.17",
    "nvidia-cudnn-cu12==9.10.2.21",
]
IMAGE = re.compile(r"^Fatbin (elf|ptx) code:\n=+\narch = sm_(\d+[af]?)$", re.MULTILINE)


def install(folder: Path, requirement: str) -> None:
    uv = shutil.which("uv")
    assert uv is not None
    subprocess.run(
        [uv, "pip", "install", "--quiet", "--no-deps", "--target", str(folder),
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
    found = inspect_path(tmp_path)
    libraries = found.binaries.coverage.libraries
    assert libraries
    assert found.faults == ()
    for library in libraries:
        ours: Counter[str] = Counter()
        for images, count in library.containers.items():
            ours.update({str(image): count for image in images})
        assert ours == counted(cuobjdump, tmp_path / library.name), library.name
    shutil.rmtree(tmp_path)


def counted(cuobjdump: Path, library: Path) -> Counter[str]:
    listing = subprocess.run(
        [cuobjdump, "--all-fatbin", library], check=True, capture_output=True, text=True
    ).stdout
    kinds = {"elf": "sm_", "ptx": "compute_"}
    return Counter(f"{kinds[kind]}{target}" for kind, target in IMAGE.findall(listing))
