"""A real CUDA stack from the index, proven as far as it goes without a card."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from stackfix.cli.main import main
from stackfix_lockfiles.uv import Uv

pytestmark = [pytest.mark.network, pytest.mark.slow]
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
