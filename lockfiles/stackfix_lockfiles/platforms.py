"""Platforms that a lock is judged for: their marker values, and which wheel each would take.

The tags are built for a *foreign* machine, so nothing here depends on the interpreter or the libc
that runs this. glibc is assumed new (2.39): a wheel that only a newer glibc than the host's runs is
the installer's business, not the lock's. Free-threaded builds (`cp313t`) are not considered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from stackfix_lockfiles.packages import LockedFile, LockedPackage

__all__ = ["PLATFORMS", "Platform", "python_minor"]

_NEWEST_GLIBC = 39
_NEWEST_MACOS = (26, 0)
_LEGACY_MANYLINUX = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """An operating system and a machine, as PEP 508 markers and wheel tags see them."""

    name: str
    """`linux_x86_64`, `linux_aarch64`, `win_amd64` or `macos_arm64`."""
    triple: str
    """What uv's `--python-platform` calls it."""
    os_name: str
    sys_platform: str
    platform_system: str
    platform_machine: str

    @classmethod
    def parse(cls, text: str) -> Platform:
        """Return the platform of that name, triple, wheel tag or short name (`linux`, `windows`).

        Raises:
            ValueError: none is called so; the message lists those that are known.
        """
        key = text.strip().lower().replace("-", "_")
        if name := _ALIASES.get(key):
            return PLATFORMS[name]
        if key.startswith("manylinux") or "_manylinux" in key:
            for machine in ("x86_64", "aarch64"):
                if machine in key:
                    return PLATFORMS[f"linux_{machine}"]
        known = ", ".join(PLATFORMS)
        raise ValueError(f"expected one of {known} (or linux, windows, macos), found {text!r}")

    def markers(self, python_full_version: str) -> Mapping[str, str]:
        """Return the values of all marker variables for CPython of that full version.

        `platform_release` and `platform_version` are empty: they name a kernel, not a platform.
        """
        return {
            "os_name": self.os_name,
            "sys_platform": self.sys_platform,
            "platform_system": self.platform_system,
            "platform_machine": self.platform_machine,
            "platform_release": "",
            "platform_version": "",
            "platform_python_implementation": "CPython",
            "implementation_name": "cpython",
            "implementation_version": python_full_version,
            "python_version": ".".join(python_full_version.split(".")[:2]),
            "python_full_version": python_full_version,
        }

    def wheels(self, package: LockedPackage, python: str) -> tuple[LockedFile, ...]:
        """Return the package's wheels that install here, the one an installer takes first.

        Args:
            package: of a lock.
            python: `3.12`, or a full version, whose patch part does not matter.
        """
        ranks = _ranks(self, python_minor(python))
        ranked = []
        for wheel in package.wheels:
            rank, build = _rank(wheel.filename, ranks)
            if rank is not None:
                ranked.append((rank, build, wheel))
        ranked.sort(key=lambda entry: (entry[0], -entry[1]))
        return tuple(wheel for _, _, wheel in ranked)

    def wheel(self, package: LockedPackage, python: str) -> LockedFile | None:
        """Return the wheel that would be installed; None if only a build from source would do."""
        wheels = self.wheels(package, python)
        return wheels[0] if wheels else None

    def __str__(self) -> str:
        return self.name


PLATFORMS: Mapping[str, Platform] = {
    platform.name: platform
    for platform in (
        Platform(
            name="linux_x86_64",
            triple="x86_64-unknown-linux-gnu",
            os_name="posix",
            sys_platform="linux",
            platform_system="Linux",
            platform_machine="x86_64",
        ),
        Platform(
            name="linux_aarch64",
            triple="aarch64-unknown-linux-gnu",
            os_name="posix",
            sys_platform="linux",
            platform_system="Linux",
            platform_machine="aarch64",
        ),
        Platform(
            name="win_amd64",
            triple="x86_64-pc-windows-msvc",
            os_name="nt",
            sys_platform="win32",
            platform_system="Windows",
            platform_machine="AMD64",
        ),
        Platform(
            name="macos_arm64",
            triple="aarch64-apple-darwin",
            os_name="posix",
            sys_platform="darwin",
            platform_system="Darwin",
            platform_machine="arm64",
        ),
    )
}

_ALIASES = {
    **{name: name for name in PLATFORMS},
    **{platform.triple.replace("-", "_"): name for name, platform in PLATFORMS.items()},
    "linux": "linux_x86_64",
    "x86_64": "linux_x86_64",
    "aarch64": "linux_aarch64",
    "arm64": "linux_aarch64",
    "windows": "win_amd64",
    "win32": "win_amd64",
    "macos": "macos_arm64",
    "darwin": "macos_arm64",
}


def python_minor(python: str) -> tuple[int, int]:
    """Return `(3, 12)` for `3.12` or `3.12.4`; ValueError for anything else."""
    parts = python.split(".")
    if len(parts) < 2 or not (parts[0].isdecimal() and parts[1].isdecimal()):
        raise ValueError(f"expected a Python version such as 3.12, found {python!r}")
    return int(parts[0]), int(parts[1])


@lru_cache(maxsize=64)
def _ranks(platform: Platform, minor: tuple[int, int]) -> Mapping[tuple[str, str, str], int]:
    """Return interpreter, ABI and platform of each compatible tag, with its place (0 is best)."""
    ranks: dict[tuple[str, str, str], int] = {}
    for place, tag in enumerate(_compatible(minor, tuple(_platform_tags(platform)))):
        ranks.setdefault(tag, place)
    return ranks


def _compatible(
    minor: tuple[int, int], platforms: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    """Yield what `packaging.tags` calls `cpython_tags` and `compatible_tags`, the best first.

    A check asks for them in every run, and making a thousand tags as objects takes it 3 ms.
    """
    major, number = minor
    interpreter = f"cp{major}{number}"
    for abi in (interpreter, "abi3", "none"):
        yield from ((interpreter, abi, name) for name in platforms)
    for older in range(number - 1, 1, -1):
        yield from ((f"cp{major}{older}", "abi3", name) for name in platforms)
    versions = [f"py{major}{number}", f"py{major}"]
    versions += [f"py{major}{older}" for older in range(number - 1, -1, -1)]
    for version in versions:
        yield from ((version, "none", name) for name in platforms)
    yield interpreter, "none", "any"
    yield from ((version, "none", "any") for version in versions)


def _platform_tags(platform: Platform) -> Iterator[str]:
    if platform.sys_platform == "win32":
        yield "win_amd64"
    elif platform.sys_platform == "darwin":
        from packaging import tags

        yield from tags.mac_platforms(_NEWEST_MACOS, "arm64")
    else:
        machine = platform.platform_machine
        oldest = 5 if machine == "x86_64" else 17
        for glibc in range(_NEWEST_GLIBC, oldest - 1, -1):
            yield f"manylinux_2_{glibc}_{machine}"
            if legacy := _LEGACY_MANYLINUX.get(glibc):
                yield f"{legacy}_{machine}"
        yield f"linux_{machine}"  # last, as in uv; pip would take it first


def _rank(filename: str, ranks: Mapping[tuple[str, str, str], int]) -> tuple[int | None, int]:
    """Return the best place of a wheel among the tags (None: incompatible) and its build number,
    -1 without one: torch 2.10.0 was uploaded again as build 3, which wins.
    """
    interpreters, abis, platforms, build = _wheel_tags(filename)
    places = [
        place
        for interpreter in interpreters
        for abi in abis
        for name in platforms
        if (place := ranks.get((interpreter, abi, name))) is not None
    ]
    return (min(places) if places else None), build


@lru_cache(maxsize=65536)
def _wheel_tags(filename: str) -> tuple[Iterable[str], Iterable[str], Iterable[str], int]:
    parts = filename.removesuffix(".whl").split("-")
    if not filename.endswith(".whl") or len(parts) not in (5, 6) or len(filename) > 1024:
        return (), (), (), -1
    digits = ""
    if len(parts) == 6:  # name-version-build-python-abi-platform: a build begins with a number
        for character in parts[2]:
            if character not in "0123456789":
                break
            digits += character
    interpreters, abis, platforms = (part.lower().split(".") for part in parts[-3:])
    return interpreters, abis, platforms, int(digits[:18]) if digits else -1
