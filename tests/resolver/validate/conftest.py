"""A small stack on an index, and a project that locks it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import recorded_index
from tests.registry.server import Index
from tests.resolver.validate.stack import SmallStack, make_project


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
