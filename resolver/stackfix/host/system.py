"""What surrounds the cards: platform, shared memory, container, and what a process may use."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from stackfix.host.devices import (
    read_fabric_manager,
    read_fabric_manager_version,
    read_interfaces,
    read_iommu,
    read_numa_nodes,
    read_nvswitches,
)
from stackfix.host.files import read
from stackfix.host.host import UNLIMITED, Card, System
from stackfix.host.libraries import find_ptxas, ptxas_version, read_libcuda, read_libraries

__all__ = [
    "platform_name",
    "read_memlock",
    "read_memory_left",
    "read_memory_limit",
    "read_sys_nice",
    "read_system",
]

_NAMES = {
    ("Linux", "x86_64"): "linux_x86_64",
    ("Linux", "aarch64"): "linux_aarch64",
    ("Windows", "AMD64"): "win_amd64",
    ("Darwin", "arm64"): "macos_arm64",
}
_NO_LIMIT = 1 << 62
"""Version 1 of control groups writes "no limit" as a number near 2**63, by pages."""
_CACHED = (r"^(?:in)?active_file (\d{1,19})$", r"^total_(?:in)?active_file (\d{1,19})$")
"""Bytes of cached files in the statistics of a group, of version 2 and 1."""
_CAP_SYS_NICE = 23
"""Bit of the capability in the masks of /proc/self/status: capability.h of Linux."""


def platform_name() -> str:
    """The platform by stackfix's names; "FreeBSD_amd64" and the like for those without one."""
    system, machine = platform.system(), platform.machine()
    return _NAMES.get((system, machine), f"{system}_{machine}")


def read_system(
    *,
    root: Path,
    env: Mapping[str, str],
    cards: Sequence[Card] = (),
) -> System:
    """The machine that stackfix runs on, with files below `root`."""
    release = (read(root / "proc/sys/kernel/osrelease") or "").strip() or platform.release() or None
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
    groups = read(root / "proc/1/cgroup") or ""
    return any(word in groups for word in ("docker", "kubepods", "containerd", "lxc"))


def _size(folder: Path) -> int | None:
    try:
        status = os.statvfs(folder)
    except (OSError, AttributeError):  # AttributeError: Windows has no statvfs
        return None
    return status.f_frsize * status.f_blocks


def read_memory_limit(root: Path) -> int | None:
    """The least limit of this process's control group and those above it, in bytes."""
    found: list[int] = []
    for path in _memory_files(root):
        text = (read(path) or "").strip()
        if text == "max":
            found.append(_NO_LIMIT)
        elif text.isdecimal():
            found.append(int(text))
    if not found:
        return None
    return min(found) if min(found) < _NO_LIMIT else UNLIMITED


def read_memory_left(root: Path = Path("/")) -> int | None:
    """Bytes that the control groups of this process leave it; None: none of them sets a limit.

    Cached files count as left: the kernel drops them for a program that needs the room.
    """
    found = []
    for path in _memory_files(root):
        limit = (read(path) or "").strip()
        if not limit.isdecimal() or int(limit) >= _NO_LIMIT:
            continue
        old = path.name == "memory.limit_in_bytes"
        used = _number(read(path.with_name("memory.usage_in_bytes" if old else "memory.current")))
        statistics = read(path.with_name("memory.stat")) or ""
        cached = re.findall(_CACHED[old], statistics, re.M)
        found.append(max(0, int(limit) - used + sum(map(int, cached))))
    return min(found, default=None)


def _number(text: str | None) -> int:
    return int(text) if text and text.strip().isdecimal() else 0


def _memory_files(root: Path) -> Iterator[Path]:
    """Where a limit may stand, under both versions of control groups."""
    mounts = root / "sys/fs/cgroup"
    for line in (read(root / "proc/self/cgroup") or "0::/").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, text = rest.partition(":")
        # A group outside the container's own view is written with "..": its parents are hidden.
        parts = [part for part in PurePosixPath(text).parts if part not in ("/", "..")]
        if controllers == "":
            base, name = mounts, "memory.max"
        elif "memory" in controllers.split(","):
            base, name = mounts / "memory", "memory.limit_in_bytes"
        else:
            continue
        for length in range(len(parts) + 1):
            yield base.joinpath(*parts[:length], name)


def read_memlock(root: Path) -> int | None:
    """Bytes that this process may lock: GPUDirect and InfiniBand pin memory."""
    found = re.search(
        r"^Max locked memory\s+(\d+|unlimited)\s", read(root / "proc/self/limits") or "", re.M
    )
    if found is None:
        return None
    return UNLIMITED if found[1] == "unlimited" else int(found[1])


def read_sys_nice(root: Path) -> bool | None:
    """Whether this process has CAP_SYS_NICE."""
    found = re.search(r"^CapEff:\s*([0-9a-f]{1,16})$", read(root / "proc/self/status") or "", re.M)
    return bool(int(found[1], 16) >> _CAP_SYS_NICE & 1) if found else None
