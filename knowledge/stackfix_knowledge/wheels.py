"""Reading what was measured of a package's wheels: `facts/wheels/<package>.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from packaging.version import Version

from stackfix_knowledge.architecture import Architecture
from stackfix_knowledge.coverage import Coverage, LibraryCoverage
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.reader import Entry
from stackfix_knowledge.release import Ptxas, Release, WheelFact

__all__ = ["PLATFORMS", "collisions_in", "parse_release", "release_tables"]

PLATFORMS = ("linux_x86_64", "linux_aarch64", "win_amd64", "macos_arm64", "any")
"""Platforms that a wheel can be for, as facts name them."""

_SEPARATORS = re.compile(r"[-_.]+")

_WHEEL_KEYS = (
    "file", "sha256", "platform", "requires", "requires-python", "metadata-date", "cuda",
    "cpu-only", "needs", "built-against", "ptxas", "measured", "collides", "library",
)  # fmt: skip


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
        index=entry.optional_text("index"),
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
