"""Measure the releases of a package on an index into its facts file.

The wheels of one release and platform differ in the Python tag only and carry the same GPU code
and, as a rule, the same metadata. One is read for all.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from stackfix_index.errors import Unreadable
from stackfix_index.remote import RemoteFile
from stackfix_index.simple import Index, IndexFile
from stackfix_index.wheel import Wheel, metadata_of
from stackfix_knowledge.evidence import EvidenceKind
from stackfix_knowledge.measure.facts_file import FactsFile
from stackfix_knowledge.measure.wheel import (
    measure_binaries,
    measure_metadata,
    shared_files,
)
from stackfix_knowledge.wheels.release import PLATFORMS, WheelFact, platform_of

__all__ = ["WHOLE", "Measuring", "by_release"]

WHOLE = ("linux_x86_64", "linux_aarch64", "any")
"""Platforms whose wheels the facts of a release list without a gap, so that a missing one means
that the index has none."""


class Measuring:
    """Measures packages of one index into one folder of facts.

    What is in the folder already, as deep as asked for, is not read again; so it can be
    interrupted at any time and goes on where it stopped.
    """

    def __init__(
        self, index: Index, folder: Path, *, today: datetime.date, report: Callable[[str], None]
    ) -> None:
        self._index = index
        self._folder = folder
        self._today = today.isoformat()
        self._report = report

    def measure(
        self,
        wanted: Requirement,
        *,
        depth: EvidenceKind,
        platforms: Sequence[str],
        again: bool = False,
    ) -> int:
        """Measure the releases that a requirement admits; return how many wheels failed.

        Pre-releases are left out unless the requirement names one. A wheel that cannot be read
        is reported and left out; Unreadable where the index or facts file cannot be. With
        ``again``, what is known is read anew. Of the Linux platforms not asked for, the METADATA
        is read, so that the facts name every Linux wheel of the release.
        """
        package = canonicalize_name(wanted.name)
        files = self._index.files(package)
        facts = FactsFile(self._folder, package)
        rivals = self._rivals(package, platforms)
        failures = 0
        listed = tuple(dict.fromkeys((*platforms, *WHOLE)))
        found = _admitted(wanted, by_release(package, files, listed))
        if not any(set(wheels) & set(platforms) for wheels in found.values()):
            self._report(f"{wanted}: the index has no such release")
            return 1
        for version, wheels in found.items():
            facts.release(
                version, date=_first_upload(wheels.values()), yanked=_all_yanked(wheels.values())
            )
            for platform, file in wheels.items():
                deep = depth if platform in platforms else EvidenceKind.METADATA
                known = facts.depth(version, platform, file.filename)
                if known in (EvidenceKind.MEASURED, deep) and not (again and known is deep):
                    continue
                try:
                    fact, collides = self._wheel(file, platform, deep, rivals)
                except Unreadable as error:
                    self._report(str(error))
                    failures += 1
                    continue
                facts.merge(version, fact, collides=collides)
                if deep is EvidenceKind.MEASURED:
                    facts.write()
                self._report(f"{deep}: {file.filename}")
        facts.write()
        return failures

    def _wheel(
        self,
        file: IndexFile,
        platform: str,
        depth: EvidenceKind,
        rivals: Mapping[str, Mapping[str, frozenset[str]]],
    ) -> tuple[WheelFact, list[str]]:
        if depth is EvidenceKind.METADATA and file.has_metadata and not rivals:
            return self._described(file, self._index.metadata(file), platform), []
        with self._opened(file) as archive:
            fact = self._described(file, metadata_of(archive), platform)
            own = frozenset(shared_files(archive.names()))
            collides = [
                other for other, paths in rivals.items() if own & paths.get(platform, frozenset())
            ]
            if depth is EvidenceKind.MEASURED:
                fact = measure_binaries(archive, fact, date=self._today)
        return fact, collides

    def _described(self, file: IndexFile, metadata: str, platform: str) -> WheelFact:
        return measure_metadata(
            file.filename, metadata, platform=platform, sha256=file.sha256, date=self._today
        )

    def _opened(self, file: IndexFile) -> Wheel:
        remote = RemoteFile(self._index.client, file.url, name=file.filename)
        return Wheel(remote, name=file.filename)

    def _rivals(
        self, package: str, platforms: Sequence[str]
    ) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """The same library for the other CUDA major, and the files its newest wheels install."""
        match = re.fullmatch(r"(nvidia-.*-cu)(12|13)", package)
        if match is None:
            return {}
        rival = match[1] + {"12": "13", "13": "12"}[match[2]]
        try:
            newest = list(by_release(rival, self._index.files(rival), platforms).values())[-1:]
            return {rival: {p: self._shared(f) for wheels in newest for p, f in wheels.items()}}
        except Unreadable:
            return {}

    def _shared(self, file: IndexFile) -> frozenset[str]:
        with self._opened(file) as archive:
            return frozenset(shared_files(archive.names()))


def _admitted(
    wanted: Requirement, releases: Mapping[Version, Mapping[str, IndexFile]]
) -> Mapping[Version, Mapping[str, IndexFile]]:
    return {
        version: wheels
        for version, wheels in releases.items()
        if (wanted.specifier.prereleases or not version.is_prerelease)
        and wanted.specifier.contains(version, prereleases=True)
    }


def _first_upload(files: Collection[IndexFile]) -> str:
    return min((file.uploaded for file in files if file.uploaded), default="")


def _all_yanked(files: Collection[IndexFile]) -> bool:
    return bool(files) and all(file.yanked for file in files)


_PREFERRED_PYTHONS = ("cp311", "cp310", "cp312", "cp39", "cp313", "cp38", "cp314")


def by_release(
    package: str, files: Iterable[IndexFile], platforms: Sequence[str]
) -> Mapping[Version, Mapping[str, IndexFile]]:
    """The representative wheels by version and platform, versions ascending.

    A release without a wheel for any of the platforms has an empty entry. Files whose name is no
    wheel's, or another package's, are left out.
    """
    ranked: dict[Version, dict[str, tuple[tuple[int, ...], IndexFile]]] = {}
    for file in files:
        try:
            name, version, build, tags = parse_wheel_filename(file.filename)
        except InvalidWheelFilename:
            continue
        if name != canonicalize_name(package):
            continue
        best = ranked.setdefault(version, {})
        pythons = {tag.interpreter for tag in tags}
        for platform in {platform_of(tag.platform) for tag in tags} & set(platforms):
            if platform is None:
                continue
            rank = (_python_rank(pythons), -(build[0] if build else 0))
            if platform not in best or rank < best[platform][0]:
                best[platform] = (rank, file)
    return {
        version: {platform: best[platform][1] for platform in PLATFORMS if platform in best}
        for version, best in sorted(ranked.items())
    }


def _python_rank(pythons: set[str]) -> int:
    ranks = [_PREFERRED_PYTHONS.index(tag) for tag in pythons if tag in _PREFERRED_PYTHONS]
    if any(tag.startswith("py") for tag in pythons):
        return -1
    return min(ranks, default=len(_PREFERRED_PYTHONS))
