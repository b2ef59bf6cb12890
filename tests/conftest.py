"""Fixtures that every part of the tests may use."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.registry.recording import FOLDER
from tests.registry.server import Index

FIXTURES = Path(__file__).parent / "fixtures"
_DEAD = "http://127.0.0.1:9"

# A shell without job control makes what it starts with & ignore Ctrl-C, nohup makes it ignore the
# end of the terminal, and so would every program that a test starts in order to interrupt it. A
# handler of our own is not inherited.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)


@contextmanager
def recorded_index(
    folder: Path,
    environment: pytest.MonkeyPatch,
    *,
    recordings: Path = FOLDER,
    served: Index | None = None,
) -> Iterator[Index]:
    """The recorded index, running, as the default of uv; no other host can be reached.

    uv's cache and configuration lie in `folder`; `recordings` may name a folder without any,
    and `served` is another index than that of the recordings.
    """
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        environment.setenv(name, _DEAD)
        environment.setenv(name.upper(), _DEAD)
    for name in ("no_proxy", "NO_PROXY"):
        environment.setenv(name, "127.0.0.1,localhost")
    for name in ("UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_OFFLINE"):
        environment.delenv(name, raising=False)
    environment.setenv("UV_CACHE_DIR", str(folder / "uv-cache"))
    environment.setenv("UV_HTTP_RETRIES", "0")
    environment.setenv("UV_PYTHON_DOWNLOADS", "never")
    environment.setenv("XDG_CONFIG_HOME", str(folder / "no-config"))
    environment.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    with served or Index(recordings) as running:
        environment.setenv("UV_DEFAULT_INDEX", running.url)
        yield running


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """The recorded index for one test."""
    with recorded_index(tmp_path, monkeypatch) as running:
        yield running


@pytest.fixture
def openpi(index: Index, tmp_path: Path) -> Path:
    """A copy of openpi, whose lock names the running index."""
    project = tmp_path / "openpi"
    shutil.copytree(FIXTURES / "openpi", project)
    return index.restore(project)
