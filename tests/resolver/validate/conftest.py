"""A small stack on an index, a project that locks it, and an environment of real frameworks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stackfix_lockfiles.uv import Uv
from tests.conftest import recorded_index
from tests.registry.server import Index
from tests.resolver.validate.stack import SmallStack, make_project

FRAMEWORKS = ("torch==2.15.0", "jax==0.10.2")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallStack]:
    with recorded_index(tmp_path, monkeypatch, recordings=tmp_path / "no recordings") as index:
        yield _small(index, tmp_path, monkeypatch)


def _small(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallStack:
    monkeypatch.setenv("UV_PYTHON", sys.executable)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    return SmallStack(index, tmp_path / "built")


@pytest.fixture
def project(small: SmallStack, tmp_path: Path) -> Path:
    return make_project(tmp_path / "small")


@pytest.fixture(scope="session")
def real_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python with torch and jax: STACKFIX_TEST_TORCH, or one that is made from the index.

    There, torch for Linux is a CUDA build, whose import needs NVIDIA's libraries: 3 GB to fetch
    once, 6 GB on disk (links to uv's cache), half a minute to a minute. jax is for the processor.
    """
    if given := os.environ.get("STACKFIX_TEST_TORCH"):
        return given
    if not sys.platform.startswith("linux"):
        pytest.skip("the index has other builds of torch for this platform")
    folder = tmp_path_factory.mktemp("frameworks")
    uv, python = Uv.find().path, folder / "bin/python"
    for command in (
        ["venv", "--quiet", "--allow-existing", "--python", sys.executable, folder],
        ["pip", "install", "--quiet", "--python", python, *FRAMEWORKS],
    ):
        subprocess.run([uv, *command], check=True)
    return str(python)
