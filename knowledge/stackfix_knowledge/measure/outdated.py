"""What is on the index and not yet in the facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packaging.version import Version

from stackfix_knowledge.measure.index import Index
from stackfix_knowledge.measure.select import by_release
from stackfix_knowledge.release import Release

__all__ = ["NewRelease", "Outdated", "compare"]

_PLATFORMS = ("linux_x86_64", "linux_aarch64", "any")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRelease:
    """A release that the facts do not know."""

    version: Version
    date: str
    """Day of the upload, ISO 8601; empty where the index does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """A package, and the releases of it that nobody measured."""

    package: str
    newest: Version | None
    """The newest release that the facts know as well as they should; None: none."""
    newer: tuple[NewRelease, ...]
    """Those on the index above it, ascending."""
    older: tuple[NewRelease, ...]
    """Those on the index below it that the facts do not know."""


def compare(package: str, known: Iterable[Release], index: Index, *, judged: bool) -> Outdated:
    """Compare the facts with the index. Raises MeasureError where the index has no such package.

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
        for version, wheels in by_release(package, files, _PLATFORMS).items()
        if wheels and not version.is_prerelease and version.local is None
    ]
