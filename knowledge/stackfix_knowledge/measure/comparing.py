"""The facts beside the index: what is there and not measured, and what differs when read again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.version import Version

from stackfix_index.errors import Unreadable
from stackfix_index.simple import Index
from stackfix_knowledge.evidence import EvidenceKind
from stackfix_knowledge.measure.facts_file import FactsFile, Table
from stackfix_knowledge.measure.measuring import WHOLE, by_release
from stackfix_knowledge.wheels.release import Release

__all__ = ["Measure", "NewRelease", "Outdated", "compare", "differences", "recorded", "verify"]

Measure = Callable[[Path, Requirement, EvidenceKind, Sequence[str]], int]
"""Measure a requirement into a folder, so deep, for those platforms; the number of failures."""

_DATES = ("measured", "metadata-date")
"""Keys that tell when, not what."""


def verify(release: Table, package: str, measure: Measure) -> tuple[list[str], int]:
    """The differences between a recorded release and the index, and how many wheels failed.

    Each wheel is read as deep as it was; raises what `measure` does.
    """
    version = Version(release["version"])
    wanted = Requirement(f"{package}=={version}")
    failures = 0
    with tempfile.TemporaryDirectory(prefix="stackfix-facts-") as name:
        folder = Path(name)
        for kind in (EvidenceKind.MEASURED, EvidenceKind.METADATA):
            deep = kind is EvidenceKind.MEASURED
            wheels = [w for w in release["wheel"] if ("measured" in w) == deep]
            if wheels:
                platforms = tuple(wheel["platform"] for wheel in wheels)
                failures += measure(folder, wanted, kind, platforms)
        fresh = FactsFile(folder, package).tables().get(version, {"wheel": []})
    return list(differences(release, fresh, f"{package} {version}")), failures


def recorded(tables: Mapping[Version, Table], package: str, version: Version) -> Table:
    """The release table to verify; Unreadable where nobody measured it."""
    release = tables.get(version)
    if release is None or not release["wheel"]:
        raise Unreadable(f"{package} {version}", None, "a release that was measured")
    return release


def differences(before: Table, after: Table, title: str) -> Iterator[str]:
    """One line for each wheel that is gone, or each key of one that differs."""
    fresh = {wheel["platform"]: wheel for wheel in after["wheel"]}
    for wheel in before["wheel"]:
        platform = wheel["platform"]
        where = f"{title} {platform}"
        if platform not in fresh:
            yield f"{where}: recorded {wheel['file']}, now it cannot be read"
            continue
        yield from _of_wheel(wheel, fresh[platform], where)


def _of_wheel(before: Table, after: Table, where: str) -> Iterator[str]:
    for key in sorted({*before, *after} - {*_DATES, "library"}):
        old, new = _plain(before.get(key)), _plain(after.get(key))
        if old != new:
            yield f"{where}: {key}: recorded {_told(old)}, now {_told(new)}"
    old_code, new_code = _containers(before), _containers(after)
    for name in sorted({*old_code, *new_code}):
        old_sets, new_sets = old_code.get(name, {}), new_code.get(name, {})
        for images in sorted({*old_sets, *new_sets}):
            counts = old_sets.get(images, 0), new_sets.get(images, 0)
            if counts[0] != counts[1]:
                yield (
                    f"{where}: {name}: {images}: recorded {counts[0]} containers, now {counts[1]}"
                )


def _containers(wheel: Table) -> Mapping[str, Mapping[str, int]]:
    return {library["name"]: library["containers"] for library in wheel.get("library", [])}


def _plain(value: Any) -> Any:
    """Absent and empty are the same fact."""
    return None if value in ([], {}, "", False) else value


def _told(value: Any) -> str:
    return "nothing" if value is None else str(value)


class NewRelease(NamedTuple):
    """A release that the facts do not know."""

    version: Version
    date: str
    """Day of the upload, ISO 8601; empty where the index does not tell."""


class Outdated(NamedTuple):
    """A package, and the releases of it that nobody measured."""

    package: str
    newest: Version | None
    """The newest release that the facts know as well as they should; None: none."""
    newer: tuple[NewRelease, ...]
    """Those on the index above it, ascending."""
    older: tuple[NewRelease, ...]
    """Those on the index below it that the facts do not know."""


def compare(package: str, known: Iterable[Release], index: Index, *, judged: bool) -> Outdated:
    """Compare the facts with the index. Raises Unreadable where the index has no such package.

    Of a `judged` package, a release counts as known when its binaries were measured. Releases
    without a Linux wheel, withdrawn ones and pre-releases are left out.
    """
    reached = {
        release.version
        for release in known
        if release.version.local is None
        and any(wheel.coverage is not None or not judged for wheel in release.wheels)
    }
    newest = max(reached, default=None)
    missing = [new for new in _offered(package, index) if new.version not in reached]
    return Outdated(
        package=package,
        newest=newest,
        newer=tuple(new for new in missing if newest is None or new.version > newest),
        older=tuple(new for new in missing if newest is not None and new.version < newest),
    )


def _offered(package: str, index: Index) -> Sequence[NewRelease]:
    files = [file for file in index.files(package) if not file.yanked]
    return [
        NewRelease(
            version=version,
            date=min((file.uploaded for file in wheels.values() if file.uploaded), default=""),
        )
        for version, wheels in by_release(package, files, WHOLE).items()
        if wheels and not version.is_prerelease and version.local is None
    ]
