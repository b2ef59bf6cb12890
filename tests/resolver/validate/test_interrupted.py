"""A run that is interrupted leaves nothing behind, or nothing for longer than the next run."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.resolver.validate.libraries import needs_compiler
from tests.resolver.validate.running import (
    CARD,
    broken,
    leftovers,
    outcomes,
    report,
    started,
    wait_for,
)
from tests.resolver.validate.stack import SmallStack
from tests.resolver.validate.test_process import gone

pytestmark = needs_compiler


AGAIN = pytest.mark.slow(reason="another signal that is handled alike")


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGTERM, 143, marks=AGAIN),
        pytest.param(signal.SIGHUP, 129, marks=AGAIN),
        (signal.SIGKILL, -9),
    ],
)
def test_an_interrupted_run_leaves_no_process_and_the_next_one_no_folder(
    number: int,
    code: int,
    small: SmallStack,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pid = tmp_path / "pid"
    project = broken(
        small,
        tmp_path,
        f"import os, time\nopen({str(pid)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n",
    )
    run = started(project)
    try:
        stuck = wait_for(pid)
        run.send_signal(number)
        assert run.wait(60) == code
    finally:
        run.kill()
        run.wait()
    assert gone(stuck)
    if number == signal.SIGKILL:
        assert len([name for name in leftovers(tmp_path) if not name.endswith(".lock")]) == 1
        report(capsys, "--project", str(project), "--timeout", "1", "--quick", code=1)
    assert leftovers(tmp_path) == []


@pytest.fixture
def slow_network(small: SmallStack) -> Iterator[threading.Event]:
    """The index holds files back until the event is set."""
    small.index.held = threading.Event()
    yield small.index.held
    small.index.held.set()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def at_work(small: SmallStack, project: Path) -> subprocess.Popen[bytes]:
    """A run whose uv waits for the network."""
    small.index.asked.clear()
    run = started(project)
    until(lambda: any(path.endswith(".whl") for path in small.index.asked))
    return run


def uv_of(tmp_path: Path) -> list[int]:
    """The processes of uv that fill an environment of this test."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
            program = os.readlink(entry / "exe")
        except OSError:
            continue
        mark = f"UV_PROJECT_ENVIRONMENT={tmp_path}/".encode()
        if mark in environment and Path(program).name.startswith("uv"):
            found.append(int(entry.name))
    return found


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=AGAIN)],
)
def test_an_interrupted_installation_leaves_no_process_and_no_folder(
    number: int,
    code: int,
    small: SmallStack,
    project: Path,
    tmp_path: Path,
    slow_network: threading.Event,
) -> None:
    run = at_work(small, project)
    assert uv_of(tmp_path)
    try:
        run.send_signal(number)
        assert run.wait(60) == code
    finally:
        run.kill()
        run.wait()
    assert uv_of(tmp_path) == []
    assert leftovers(tmp_path) == []


def test_after_a_killed_installation_the_next_run_ends_its_uv_and_takes_the_folder(
    small: SmallStack,
    project: Path,
    tmp_path: Path,
    slow_network: threading.Event,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = at_work(small, project)
    run.kill()
    run.wait()
    (stray,) = uv_of(tmp_path)
    slow_network.set()
    os.kill(stray, signal.SIGSTOP)  # or it might end by itself meanwhile
    document = report(capsys, "--project", str(project), *CARD, "--quick")
    assert outcomes(document)["install"] == "passed"
    assert gone(stray)
    assert leftovers(tmp_path) == []
