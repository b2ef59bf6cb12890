"""What surrounds the cards, and what a process may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.host.host import UNLIMITED
from stackfix.host.system import (
    read_memlock,
    read_memory_left,
    read_memory_limit,
    read_sys_nice,
    read_system,
)
from tests.resolver.host.test_devices import write


def test_wsl_is_known_by_its_kernel(tmp_path: Path) -> None:
    write(tmp_path / "proc/sys/kernel/osrelease", "5.15.167.4-microsoft-standard-WSL2\n")
    system = read_system(root=tmp_path, env={})
    assert system.wsl
    assert system.kernel == "5.15.167.4-microsoft-standard-WSL2"


def test_a_plain_machine_is_neither_wsl_nor_container(tmp_path: Path) -> None:
    write(tmp_path / "proc/sys/kernel/osrelease", "6.8.0-45-generic\n")
    write(tmp_path / "proc/1/cgroup", "0::/init.scope\n")
    system = read_system(root=tmp_path, env={})
    assert not system.wsl
    assert not system.container


@pytest.mark.parametrize("marker", [".dockerenv", "run/.containerenv", ".singularity.d/env"])
def test_a_container_is_known_by_the_file_its_engine_leaves(tmp_path: Path, marker: str) -> None:
    write(tmp_path / marker, "")
    assert read_system(root=tmp_path, env={}).container


def test_a_pod_is_known_by_its_environment(tmp_path: Path) -> None:
    assert read_system(root=tmp_path, env={"KUBERNETES_SERVICE_HOST": "10.0.0.1"}).container


def test_shared_memory_is_measured_in_bytes(tmp_path: Path) -> None:
    (tmp_path / "dev/shm").mkdir(parents=True)
    size = read_system(root=tmp_path, env={}).shm
    assert size is not None
    assert size > 1 << 20


def test_no_shared_memory_is_none(tmp_path: Path) -> None:
    assert read_system(root=tmp_path, env={}).shm is None


def test_the_least_limit_of_the_group_and_its_parents_holds(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", "0::/pod/job\n")
    write(tmp_path / "sys/fs/cgroup/pod/memory.max", "1024\n")
    write(tmp_path / "sys/fs/cgroup/pod/job/memory.max", "max\n")
    assert read_memory_limit(tmp_path) == 1024


def test_the_first_version_of_control_groups_is_read_too(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", "5:cpu:/x\n4:memory:/job\n")
    write(tmp_path / "sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096\n")
    write(tmp_path / "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    assert read_memory_limit(tmp_path) == 4096


@pytest.mark.parametrize("group", ["0::/../../other\n", "", "0::/a\0b\n"])
def test_a_group_that_cannot_be_seen_leaves_the_root_of_the_mount(
    tmp_path: Path, group: str
) -> None:
    write(tmp_path / "proc/self/cgroup", group or "0::/\n")
    write(tmp_path / "sys/fs/cgroup/memory.max", "max\n")
    assert read_memory_limit(tmp_path) == UNLIMITED


def test_no_control_group_is_not_known(tmp_path: Path) -> None:
    assert read_memory_limit(tmp_path) is None


@pytest.mark.parametrize(("soft", "bytes_"), [("8388608", 8388608), ("unlimited", UNLIMITED)])
def test_locked_memory_is_the_soft_limit(tmp_path: Path, soft: str, bytes_: int) -> None:
    line = f"Max locked memory         {soft}              unlimited            bytes\n"
    write(tmp_path / "proc/self/limits", "Limit  Soft Limit  Hard Limit  Units\n" + line)
    assert read_memlock(tmp_path) == bytes_


@pytest.mark.parametrize(
    ("mask", "holds"), [("000001ffffffffff", True), ("00000000a80425fb", False)]
)
def test_the_capability_for_numa_calls_is_a_bit(tmp_path: Path, mask: str, holds: bool) -> None:
    write(tmp_path / "proc/self/status", f"Name:\tx\nCapPrm:\t0\nCapEff:\t{mask}\n")
    assert read_sys_nice(tmp_path) is holds


def test_what_no_file_tells_is_not_known(tmp_path: Path) -> None:
    assert read_memlock(tmp_path) is None
    assert read_sys_nice(tmp_path) is None


def test_what_a_group_leaves_is_its_limit_without_what_is_used_but_with_cached_files(
    tmp_path: Path,
) -> None:
    write(tmp_path / "proc/self/cgroup", "0::/pod/job\n")
    write(tmp_path / "sys/fs/cgroup/pod/memory.max", "1000\n")
    write(tmp_path / "sys/fs/cgroup/pod/memory.current", "700\n")
    write(tmp_path / "sys/fs/cgroup/pod/memory.stat", "active_file 50\ninactive_file 150\n")
    write(tmp_path / "sys/fs/cgroup/pod/job/memory.max", "max\n")
    assert read_memory_left(tmp_path) == 500


def test_an_older_group_leaves_the_same(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/cgroup", "5:memory:/job\n")
    write(tmp_path / "sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000\n")
    write(tmp_path / "sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1200\n")
    assert read_memory_left(tmp_path) == 0


def test_a_group_without_a_limit_leaves_what_the_machine_has(tmp_path: Path) -> None:
    write(tmp_path / "sys/fs/cgroup/memory.max", "max\n")
    assert read_memory_left(tmp_path) is None
