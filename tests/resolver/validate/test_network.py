"""A real CUDA stack from the index, proven as far as it goes without a card."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from stackfix.cli.main import main
from stackfix_lockfiles.uv import Uv

pytestmark = pytest.mark.network
_PYPROJECT = """\
[project]
name = "real"
version = "0"
requires-python = ">=3.11,<3.12"
dependencies = [
    "nvidia-cudnn-cu12==9.5.1.17",
    "nvidia-nccl-cu12==2.26.2",
    "nvidia-cuda-runtime-cu12==12.8.90",
    "nvidia-cublas-cu12==12.8.4.1",
]
"""


def test_versions_and_code_of_nvidias_own_wheels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(_PYPROJECT)
    subprocess.run([Uv.find().path, "lock", "--quiet"], cwd=tmp_path, check=True)
    arguments = ["validate", "--project", str(tmp_path), "--target", "RTX 5090"]
    assert main([*arguments, "--format", "json"]) == 1
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    stages = {stage["name"]: stage for stage in document["stages"]}
    told = {check["name"]: check["detail"] for check in stages["versions"]["checks"]}
    assert told["nvidia-cudnn-cu12"] == "9.5.1"
    assert told["nvidia-nccl-cu12"] == "2.26.2"
    assert told["nvidia-cuda-runtime-cu12"] == "12.8"
    assert told["nvidia-cublas-cu12"] == "12.8.4"
    code = {check["name"]: check["outcome"] for check in stages["code"]["checks"]}
    assert code["nvidia-cudnn-cu12 9.5.1.17"] == "failed"
    assert code["nvidia-cublas-cu12 12.8.4.1"] == "passed"


def test_every_library_of_a_real_stack_tells_the_version_of_its_package(
    real_python: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Asked of the library's own functions, alone and in a process with torch and jax."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    assert main(["validate", "--python", real_python, "--format", "json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    stages = {stage["name"]: stage for stage in document["stages"]}
    for name in ("versions", "import-torch", "import-jax", "libraries"):
        assert stages[name]["outcome"] == "passed", stages[name]
    packages = document["environment"]["packages"]
    told = {check["name"]: check["detail"] for check in stages["versions"]["checks"]}
    assert len(told) >= 9
    for package, version in told.items():
        assert f"{packages[package]}.".startswith(f"{version}.")
    loaded = {check["name"]: check["detail"] for check in stages["libraries"]["checks"]}
    assert "/site-packages/nvidia/" in loaded["cudnn"]
    assert "/site-packages/nvidia/" in loaded["nccl"]
