"""Fixtures that every part of the tests may use."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.registry.server import Index

FIXTURES = Path(__file__).parent / "fixtures"
_DEAD = "http://127.0.0.1:9"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """The recorded index, running, as the default of uv; no other host can be reached."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, _DEAD)
        monkeypatch.setenv(name.upper(), _DEAD)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1,localhost")
    for name in ("UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Index() as running:
        monkeypatch.setenv("UV_DEFAULT_INDEX", running.url)
        yield running


@pytest.fixture
def openpi(index: Index, tmp_path: Path) -> Path:
    """A copy of openpi, whose lock names the running index."""
    project = tmp_path / "openpi"
    shutil.copytree(FIXTURES / "openpi", project)
    return index.restore(project)
