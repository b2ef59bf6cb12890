"""One release of a package, wheel by wheel: what is known of it, and how its facts are read.

`facts/wheels/<package>.toml` has a table for each release, and in it one for each wheel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from packaging.version import Version

from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.hardware import Architecture
from stackfix_knowledge.reader import Entry
from stackfix_knowledge.wheels.coverage import Coverage, LibraryCoverage

__all__ = [
    "PLATFORMS",
    "Ptxas",
    "Release",
    "WheelFact",
    "collisions_in",
    "parse_release",
    "platform_of",
    "release_tables",
]


class Ptxas(NamedTuple):
    """A PTX assembler that a wheel brings along."""

    cuda: str
    """The toolkit it comes from, such as ``12.8`` or ``12.8.61``."""
    targets: tuple[str, ...]
    """Architectures that it names, such as ``sm_120`` and ``sm_100a``; empty: nobody read them.

    Read from the strings of the program. What is missing here it cannot target; old names can
    linger after their support ended.
    """


class WheelFact(NamedTuple):
    """One wheel of a release; stands for its siblings with other Python tags."""

    file: str
    """The wheel's file name."""
    platform: str
    """``linux_x86_64``, ``linux_aarch64``, ``win_amd64``, ``macos_arm64`` or ``any``."""
    sha256: str | None = None
    """Digest of the wheel, in hexadecimal."""
    cuda: Version | None = None
    """CUDA toolkit that it was built with; None: no CUDA build, or not known."""
    cpu_only: bool = False
    """A framework's wheel that carries no GPU code although the framework has GPU builds."""
    requires: tuple[str, ...] | None = None
    """Every Requires-Dist line of its METADATA; None: not read."""
    requires_python: str | None = None
    """The Requires-Python line of its METADATA."""
    built_against: Mapping[str, Version] = {}
    """Libraries it was compiled with: ``{"cudnn": 9.8.0}``."""
    coverage: Coverage | None = None
    """The GPU code in it; None: nobody measured."""
    ptxas: tuple[Ptxas, ...] = ()
    """PTX assemblers in it."""
    needs: tuple[str, ...] = ()
    """Shared libraries that its binaries ask the loader for and that it does not hold."""
    evidence: tuple[Evidence, ...] = ()
    """Where this comes from."""


class Release(NamedTuple):
    """One version of a package."""

    package: str
    """Normalised name."""
    version: Version
    """Its version, with the local part where its index has one (``2.7.1+cu128``)."""
    date: str
    """Day of the upload, ISO 8601; empty where the index does not tell."""
    yanked: bool = False
    """Withdrawn by its maintainers."""
    home: str | None = None
    """None: the default index. Otherwise the PyTorch index of that name, such as ``cu128``."""
    wheels: tuple[WheelFact, ...] = ()
    """One for each platform."""

    def wheel(self, platform: str) -> WheelFact | None:
        """The wheel for that platform; a wheel for any platform stands in for a missing one."""
        by_platform = {wheel.platform: wheel for wheel in self.wheels}
        return by_platform.get(platform) or by_platform.get("any")


PLATFORMS = ("linux_x86_64", "linux_aarch64", "win_amd64", "macos_arm64", "any")
"""Platforms that a wheel can be for, as facts name them."""

_SEPARATORS = re.compile(r"[-_.]+")

_WHEEL_KEYS = (
    "file", "sha256", "platform", "requires", "requires-python", "metadata-date", "cuda",
    "cpu-only", "needs", "built-against", "ptxas", "measured", "collides", "library",
)  # fmt: skip


def platform_of(tag: str) -> str | None:
    """The platform of a wheel tag such as ``manylinux_2_28_x86_64``; None: not one of ours."""
    if tag == "any":
        return "any"
    if tag.startswith(("manylinux", "linux")):
        for machine in ("x86_64", "aarch64"):
            if tag.endswith(machine):
                return f"linux_{machine}"
    if tag.startswith("macosx"):
        return "macos_arm64" if tag.endswith(("arm64", "universal2")) else None
    return "win_amd64" if tag == "win_amd64" else None


def release_tables(file: Entry, package: str) -> Mapping[Version, Entry]:
    """The `[[release]]` tables of a package, by version. Raises FactsError."""
    file.only("package", "release")
    normal = _SEPARATORS.sub("-", package).lower()
    if file.text("package") != package or normal != package:
        raise file.fault("package", f'the normalised name "{normal}"')
    tables: dict[Version, Entry] = {}
    for entry in file.entries("release"):
        version = entry.version("version")
        if version in tables:
            raise entry.fault("version", f"each version once, not {version} again")
        tables[version] = entry
    return tables


def parse_release(entry: Entry, package: str) -> Release:
    """Read one `[[release]]` table. Raises FactsError."""
    entry.only("version", "date", "yanked", "index", "wheel")
    return Release(
        package=package,
        version=entry.version("version"),
        date=entry.date("date") or "",
        yanked=entry.flag("yanked"),
        home=entry.optional_text("index"),
        wheels=tuple(_wheel(wheel) for wheel in entry.entries("wheel")),
    )


def _wheel(entry: Entry) -> WheelFact:
    entry.only(*_WHEEL_KEYS)
    if "library" in entry and "measured" not in entry:
        raise entry.fault("measured", "the day on which the libraries were measured")
    if "measured" not in entry and "metadata-date" not in entry:
        raise entry.fault("measured", 'a date here or in "metadata-date": evidence for the wheel')
    platform = entry.text("platform")
    if platform not in PLATFORMS:
        raise entry.fault("platform", f"one of {', '.join(PLATFORMS)}")
    cuda = entry.optional_version("cuda")
    return WheelFact(
        file=entry.text("file"),
        sha256=entry.optional_text("sha256"),
        platform=platform,
        cuda=cuda,
        cpu_only=entry.flag("cpu-only"),
        requires=entry.texts("requires") if "requires" in entry else None,
        requires_python=entry.optional_text("requires-python"),
        built_against=_built_against(entry),
        coverage=_coverage(entry, cuda) if "measured" in entry else None,
        ptxas=tuple(_ptxas(ptxas) for ptxas in entry.entries("ptxas")),
        needs=entry.texts("needs"),
        evidence=_evidence(entry),
    )


def _evidence(entry: Entry) -> tuple[Evidence, ...]:
    dates = {EvidenceKind.MEASURED: "measured", EvidenceKind.METADATA: "metadata-date"}
    return tuple(
        Evidence(
            kind=kind,
            source=entry.text("file"),
            date=entry.date(key),
            sha256=entry.optional_text("sha256"),
        )
        for kind, key in dates.items()
        if key in entry
    )


def _built_against(entry: Entry) -> Mapping[str, Version]:
    table = entry.entry("built-against")
    return {library: table.version(library) for library in table.data}


def _ptxas(entry: Entry) -> Ptxas:
    entry.only("cuda", "targets")
    return Ptxas(cuda=entry.text("cuda"), targets=entry.texts("targets"))


def _coverage(entry: Entry, toolkit: Version | None) -> Coverage:
    return Coverage(
        libraries=tuple(_library(library) for library in entry.entries("library")),
        toolkit=toolkit,
    )


def _library(entry: Entry) -> LibraryCoverage:
    entry.only("name", "containers")
    containers = {}
    for images, count in entry.mapping("containers").items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise entry.fault(f"containers.{images!r}", "a count of at least 1")
        containers[_architectures(entry, images)] = count
    return LibraryCoverage(name=entry.text("name"), containers=containers)


def _architectures(entry: Entry, images: str) -> frozenset[Architecture]:
    try:
        return _parsed(images)
    except ValueError as error:
        raise entry.fault("containers", f'architectures such as "sm_80 sm_90", {error}') from error


@cache
def _parsed(images: str) -> frozenset[Architecture]:
    return frozenset(Architecture.parse(image) for image in images.split())


def collisions_in(entry: Entry) -> Iterator[tuple[str, tuple[Evidence, ...]]]:
    """Packages that the wheels of a release table were measured to overwrite files of."""
    for wheel in entry.entries("wheel"):
        for other in wheel.texts("collides"):
            yield other, _evidence(wheel)
