"""What surrounds the cards."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackfix.host.system import read_system
from tests.resolver.host.test_kernel import write


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
