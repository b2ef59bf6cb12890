"""Running `stackfix validate` and looking at what it told and left."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from stackfix.cli.main import main
from tests.resolver.report.published import valid
from tests.resolver.validate.stack import PYPROJECT, SmallStack, make_project

CARD = ("--target", "RTX 5090")


def content(folder: Path) -> dict[str, str]:
    """Every file of a folder with its digest."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def report(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    """The JSON of a run that ends with `code`."""
    found = main(["validate", "--format", "json", *arguments])
    captured = capsys.readouterr()
    assert found == code, captured.out + captured.err
    document: dict[str, Any] = json.loads(captured.out)
    valid("validation-1", document)
    return document


def outcomes(document: dict[str, Any]) -> dict[str, str]:
    return {stage["name"]: stage["outcome"] for stage in document["stages"]}


def stage(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(stage for stage in document["stages"] if stage["name"] == name)


def leftovers(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "cache/stackfix/validate").glob("*")]


def broken(small: SmallStack, tmp_path: Path, code: str) -> Path:
    """A project whose torch runs this code when it is imported."""
    needs = ["nvidia-cudnn-cu12==9.5.1.17", "nvidia-nccl-cu12==2.26.2"]
    small.torch("2.7.0", needs=needs, code=code)
    return make_project(tmp_path / "broken", PYPROJECT.replace("2.7.1", "2.7.0"))


def started(project: Path) -> subprocess.Popen[bytes]:
    """A run that sits in an import."""
    command = [sys.executable, "-m", "stackfix", "validate", "--project", str(project), *CARD]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ)
    )


def wait_for(file: Path) -> int:
    """The number that a process writes into a file."""
    deadline = time.monotonic() + 60
    while not file.exists() or not file.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int(file.read_text())
