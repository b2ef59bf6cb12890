"""A project on disk and plans for it, for commands whose planner is replaced."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from stackfix.plan.plan import Plan
from stackfix.plan.request import Request
from tests.resolver.report import examples

PYPROJECT = """\
[project]
name = "example"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["torch==2.7.1"]
"""
LOCK = 'version = 1\nrevision = 3\nrequires-python = ">=3.11"\n'
NEW_PYPROJECT = PYPROJECT.replace("2.7.1", "2.8.0")
NEW_LOCK = LOCK + "# new\n"


def make_project(root: Path) -> Path:
    """A small uv project at `root`."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "uv.lock").write_text(LOCK)
    return root


def plan_for(root: Path, like: Plan = examples.PLANNED) -> Plan:
    """`like`, made for the project at `root`."""
    files = {
        PurePosixPath("pyproject.toml"): NEW_PYPROJECT.encode(),
        PurePosixPath("uv.lock"): NEW_LOCK.encode(),
    }
    base = {
        PurePosixPath(name): hashlib.sha256((root / name).read_bytes()).hexdigest()
        for name in ("pyproject.toml", "uv.lock")
    }
    return replace(like, root=str(root), files=files if like.files else {}, base=base)


def replace_planner(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[Request], Plan]
) -> list[Request]:
    """Let `answer` plan; returns the list that collects the requests it gets."""
    requests: list[Request] = []

    def propose(request: Request) -> Plan:
        requests.append(request)
        return answer(request)

    monkeypatch.setattr("stackfix.plan.propose.propose", propose)
    return requests
