"""Fixtures that every part of the tests may use, and the environment that all of them run in."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from stackfix_lockfiles.uv import Uv
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

# How long an example takes says how busy the machine is.
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any")

# What a user sets to change how output looks is for the tests about that to set.
for _name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(_name, None)

# Programs that tests start have their bytecode, as installed ones do: to compile them anew at every
# start takes longer than most tests.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False

# uv looks for a Python at every call, and where PATH names wrappers it starts each of them. The one
# that runs the tests comes first, so that it is found at once and everywhere the same.
os.environ["PATH"] = os.pathsep.join(
    (str(Path(sys.base_exec_prefix, "bin")), os.environ.get("PATH", os.defpath))
)


@cache
def _interpreters() -> dict[Path, bytes]:
    """What uv notes of Python in its cache, by file: it starts it for each cache without that."""
    with tempfile.TemporaryDirectory() as folder:
        for python in ((), (sys.executable,)):
            subprocess.run(
                [Uv.find().path, "python", "find", "--system", *python],
                env={**os.environ, "UV_CACHE_DIR": folder, "UV_PYTHON_DOWNLOADS": "never"},
                stdout=subprocess.DEVNULL,
                check=True,
            )
        return {
            path.relative_to(folder): path.read_bytes()
            for path in Path(folder).glob("interpreter-*/**/*")
            if path.is_file()
        }


@contextmanager
def recorded_index(
    folder: Path,
    environment: pytest.MonkeyPatch,
    *,
    recordings: Path = FOLDER,
) -> Iterator[Index]:
    """The recorded index, running, as the default of uv; no other host can be reached.

    uv's cache and configuration lie in `folder`; `recordings` may name a folder without any.
    """
    with Index(recordings) as running:
        only(running, folder, environment)
        yield running


def only(index: Index, folder: Path, environment: pytest.MonkeyPatch) -> None:
    """Make `index` the default of uv and keep every other host out of reach.

    uv's cache and configuration lie in `folder`. It knows this Python already.
    """
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        environment.setenv(name, _DEAD)
        environment.setenv(name.upper(), _DEAD)
    for name in ("no_proxy", "NO_PROXY"):
        environment.setenv(name, "127.0.0.1,localhost")
    for name in [name for name in os.environ if name.startswith("UV_")]:
        environment.delenv(name)
    environment.setenv("UV_DEFAULT_INDEX", index.url)
    environment.setenv("UV_CACHE_DIR", str(folder / "uv-cache"))
    environment.setenv("UV_HTTP_RETRIES", "0")
    environment.setenv("UV_PYTHON_DOWNLOADS", "never")
    environment.setenv("XDG_CONFIG_HOME", str(folder / "no-config"))
    environment.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    for path, data in _interpreters().items():
        noted = folder / "uv-cache" / path
        noted.parent.mkdir(parents=True, exist_ok=True)
        noted.write_bytes(data)


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
