"""What stages may take and what they run in."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stackfix.validate.process import Limits
from stackfix.validate.runner import allowed_memory, run_stages, stage_environment
from stackfix.validate.stages import Stage
from tests.resolver.making import graph

GIB = 1 << 30


def machine(root: Path, *, available: int, group: str = "/") -> Path:
    """A machine with so much memory available, seen from a cgroup."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 1 kB\nMemAvailable: {available >> 10} kB\n")
    (root / "proc/self/cgroup").write_text(f"0::{group}\n")
    return root


def limited(root: Path, group: str, *, limit: int, used: int, cached: int) -> None:
    folder = root / "sys/fs/cgroup" / group
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{used}\n")
    half = cached // 2
    (folder / "memory.stat").write_text(
        f"anon {used - cached}\nactive_file {half}\ninactive_file {half}\nfile {cached}\n"
    )


def test_most_of_the_free_memory_may_be_taken(tmp_path: Path) -> None:
    assert allowed_memory(machine(tmp_path, available=10 * GIB)) == 8 * GIB


def test_a_container_that_is_full_of_cached_files_has_room(tmp_path: Path) -> None:
    """As it is after a stack of some gigabytes was installed."""
    root = machine(tmp_path, available=100 * GIB)
    limited(root, "", limit=10 * GIB, used=10 * GIB, cached=10 * GIB)
    assert allowed_memory(root) == 8 * GIB


def test_memory_of_others_in_the_container_is_not_free(tmp_path: Path) -> None:
    root = machine(tmp_path, available=100 * GIB)
    limited(root, "", limit=10 * GIB, used=6 * GIB, cached=0)
    assert allowed_memory(root) == int(4 * GIB * 0.8)


def test_the_narrowest_of_nested_groups_counts(tmp_path: Path) -> None:
    """A batch system's job is such a group, several below the top."""
    root = machine(tmp_path, available=100 * GIB, group="/system/job_7/step_0")
    limited(root, "system", limit=80 * GIB, used=0, cached=0)
    limited(root, "system/job_7", limit=20 * GIB, used=0, cached=0)
    assert allowed_memory(root) == 16 * GIB


def test_a_group_outside_of_the_own_view_is_none(tmp_path: Path) -> None:
    root = machine(tmp_path, available=10 * GIB, group="/../../other")
    limited(root, "../other", limit=1 * GIB, used=0, cached=0)
    assert allowed_memory(root) == 8 * GIB


def test_kernels_find_each_other_whatever_the_user_has_set() -> None:
    env = stage_environment({"PYTHONSAFEPATH": "1", "LD_LIBRARY_PATH": "/opt/lib"}, scratch=False)
    assert "PYTHONSAFEPATH" not in env
    assert env["LD_LIBRARY_PATH"] == "/opt/lib"


def test_a_scratch_environment_is_spared_other_packages() -> None:
    user = {"PYTHONPATH": "/other", "VIRTUAL_ENV": "/venv", "PYTHONHOME": "/usr"}
    env = stage_environment(user, scratch=True)
    assert not user.keys() & env.keys()
    assert env["PYTHONNOUSERSITE"] == "1"
    assert stage_environment(user, scratch=False)["PYTHONPATH"] == "/other"


def test_what_a_killed_stage_has_written_goes_with_it(tmp_path: Path) -> None:
    """Checkpoints, generated code, the ranks' meeting place."""
    code = (
        "import os, tempfile\n"
        f"open({str(tmp_path / 'place')!r}, 'w').write(tempfile.mkdtemp())\n"
        "os.kill(os.getpid(), 9)"
    )
    stage = Stage(
        name="conv",
        title="killed",
        command=(sys.executable, "-c", code),
        limits=Limits(seconds=30, memory=GIB),
    )
    (result,) = run_stages([stage], env=dict(os.environ), graph=graph(), folder=tmp_path)
    assert result.reason.startswith("crashed with SIGKILL")
    assert not Path((tmp_path / "place").read_text()).exists()
