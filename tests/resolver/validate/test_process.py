"""Whatever a stage's process does is a result, and nothing of it stays behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stackfix.validate.process import ProcessLimits, ProcessRun, run_limited

LIMITS = ProcessLimits(seconds=30, memory=1 << 30)


def run(code: str, folder: Path, limits: ProcessLimits = LIMITS) -> ProcessRun:
    command = [sys.executable, "-c", code]
    return run_limited(command, cwd=folder, env=dict(os.environ), limits=limits)


def gone(pid: int, seconds: float = 60.0) -> bool:
    """Whether the process ends within some seconds; one nobody has waited for has ended too."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z":
                time.sleep(0.05)
                continue
        return True
    return False


def test_an_exit_code_and_both_streams_are_kept(tmp_path: Path) -> None:
    code = "import os, sys; os.write(1, b'one\\n'); os.write(2, b'two\\n'); sys.exit(7)"
    ran = run(code, tmp_path)
    assert ran.ending.exit_code == 7
    assert ran.ending.signal is None
    assert ran.log == "one\ntwo\n"


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGILL"])
def test_a_crash_is_told_by_its_signal_and_leaves_no_core(name: str, tmp_path: Path) -> None:
    ran = run(f"import os, signal; os.kill(os.getpid(), signal.{name})", tmp_path)
    assert ran.ending.signal == name
    assert ran.ending.exit_code is None
    assert not list(tmp_path.iterdir())


def test_a_hang_ends_at_the_limit_with_its_children(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True); time.sleep(600)"
    )
    ran = run(code, tmp_path, ProcessLimits(seconds=1, memory=1 << 30))
    assert ran.ending.limit == "time"
    assert ran.ending.seconds < 10
    assert gone(int(ran.log))


def test_too_much_memory_ends_it(tmp_path: Path) -> None:
    code = "kept = [bytearray(b'x' * (32 << 20)) for _ in range(40)]; import time; time.sleep(600)"
    ran = run(code, tmp_path, ProcessLimits(seconds=30, memory=200 << 20))
    assert ran.ending.limit == "memory"
    assert ran.ending.memory > 200 << 20
    assert ran.ending.seconds < 20


def test_address_space_that_is_only_reserved_is_no_memory(tmp_path: Path) -> None:
    """CUDA reserves hundreds of gigabytes of it."""
    code = (
        "import mmap, time\n"
        "flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE\n"
        "kept = mmap.mmap(-1, 64 << 30, flags=flags); time.sleep(1)"
    )
    ran = run(code, tmp_path, ProcessLimits(seconds=30, memory=200 << 20))
    assert ran.ending.exit_code == 0, ran.log
    assert ran.ending.limit is None


def test_of_endless_output_beginning_and_end_are_kept(tmp_path: Path) -> None:
    code = (
        "import os\nos.write(1, b'first\\n')\n"
        "for _ in range(2000): os.write(1, b'x' * 4096)\n"
        "os.write(1, b'last\\n')"
    )
    ran = run(code, tmp_path)
    assert ran.log.startswith("first\n")
    assert ran.log.endswith("last\n")
    assert len(ran.log) < 100_000
    assert "bytes left out]" in ran.log


def test_what_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        run_limited([str(tmp_path / "none")], cwd=tmp_path, env={}, limits=LIMITS)


def test_a_kernel_ends_when_the_one_that_started_it_is_killed(tmp_path: Path) -> None:
    """Otherwise a killed run would leave a hung kernel on the card."""
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from stackfix.validate.process import ProcessLimits, run_limited\n"
        "from stackfix.validate.python import KERNELS\n"
        "env = {**os.environ, 'PYTHONPATH': sys.argv[1]}\n"
        "command = [sys.executable, str(KERNELS / 'imports.py'), '--module', 'sleeper']\n"
        "limits = ProcessLimits(seconds=60, memory=1 << 30)\n"
        "run_limited(command, cwd=Path('/'), env=env, limits=limits)\n"
    )
    (tmp_path / "sleeper.py").write_text(
        f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)])
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        pid = int((tmp_path / "pid").read_text())
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert gone(pid)
