"""What surrounds the cards: platform, kernel, C library, shared memory, container, WSL."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path

from stackfix.host.host import Card, System
from stackfix.host.layout import read_interfaces, read_iommu, read_numa_nodes
from stackfix.host.libraries import read_libcuda, read_libraries
from stackfix.host.limits import read_memlock, read_memory_limit, read_sys_nice
from stackfix.host.ptxas import find_ptxas, ptxas_version
from stackfix.host.switches import (
    read_fabric_manager,
    read_fabric_manager_version,
    read_nvswitches,
)

__all__ = ["platform_name", "read_system"]

_NAMES = {
    ("Linux", "x86_64"): "linux_x86_64",
    ("Linux", "aarch64"): "linux_aarch64",
    ("Windows", "AMD64"): "win_amd64",
    ("Darwin", "arm64"): "macos_arm64",
}


def platform_name() -> str:
    """The platform by stackfix's names; "FreeBSD_amd64" and the like for those without one."""
    system, machine = platform.system(), platform.machine()
    return _NAMES.get((system, machine), f"{system}_{machine}")


def read_system(
    *,
    root: Path = Path("/"),
    env: Mapping[str, str] = os.environ,
    cards: Sequence[Card] = (),
) -> System:
    """The machine that stackfix runs on, with files below `root`."""
    release = _read(root / "proc/sys/kernel/osrelease").strip() or platform.release() or None
    library, version = platform.libc_ver()
    container = _in_container(root, env)
    ptxas = find_ptxas(root, env)
    return System(
        platform=platform_name(),
        python=platform.python_version(),
        kernel=release,
        glibc=version if library == "glibc" and version else None,
        shm=_size(root / "dev/shm"),
        container=container,
        wsl="microsoft" in (release or "").lower(),
        memory_limit=read_memory_limit(root),
        memlock=read_memlock(root),
        sys_nice=read_sys_nice(root),
        numa_nodes=read_numa_nodes(root),
        iommu=read_iommu(root, [card.pci for card in cards if card.pci]),
        ptxas=ptxas,
        ptxas_version=ptxas_version(root, ptxas) if ptxas else None,
        nvswitches=read_nvswitches(root),
        fabric_manager=read_fabric_manager(root, container=container),
        fabric_manager_version=read_fabric_manager_version(root, container=container),
        libcuda=read_libcuda(root, env),
        library_path=env.get("LD_LIBRARY_PATH"),
        libraries=read_libraries(root, env),
        interfaces=read_interfaces(root),
    )


def _in_container(root: Path, env: Mapping[str, str]) -> bool:
    if "KUBERNETES_SERVICE_HOST" in env or "container" in env:
        return True
    if any(
        (root / name).exists() for name in (".dockerenv", "run/.containerenv", ".singularity.d")
    ):
        return True
    groups = _read(root / "proc/1/cgroup")
    return any(word in groups for word in ("docker", "kubepods", "containerd", "lxc"))


def _size(folder: Path) -> int | None:
    try:
        status = os.statvfs(folder)
    except (OSError, AttributeError):  # AttributeError: Windows has no statvfs
        return None
    return status.f_frsize * status.f_blocks


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(1 << 16).decode(errors="replace")
    except OSError:
        return ""
