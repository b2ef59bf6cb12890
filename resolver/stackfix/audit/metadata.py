"""What locked packages say they require, from whoever has read it.

In order: what the lock records of members, git and path packages; the facts about a wheel; the
METADATA that an earlier run, or with `--online` this one, read from the index.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from packaging.version import InvalidVersion, Version

from stackfix.model.stack import is_other_build, usual_index
from stackfix.rules.requires import DeclaredMetadata
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.lock import Lock, LockedFile, LockedPackage, SourceKind
from stackfix_lockfiles.metadata import RequirementsCache
from stackfix_lockfiles.requirement import RequirementLine, read_requirement

__all__ = ["MetadataReader"]

_TRIED = 12
"""Wheels of one package that the disk is asked for."""


class MetadataReader:
    """The requirements of one lock's packages. Offline, only neighbours of the stack are read."""

    def __init__(
        self,
        lock: Lock,
        graph: Graph,
        damaged: Container[tuple[str, str | None]] = (),
        *,
        online: bool = False,
    ) -> None:
        """`damaged` are entries (name and version) that are not what they say."""
        self._damaged = damaged
        self._lock = lock
        self._graph = graph
        self._online = online
        self._known: dict[tuple[int, str], DeclaredMetadata | None] = {}
        self._replaced = {str(table.get("name", "")) for table in lock.manifest.dependency_metadata}
        self._usual = usual_index(lock.packages)
        self._near: frozenset[int] | None = None
        self._read: Mapping[int, tuple[str, ...]] | None = None
        self.unread: set[str] = set()
        """Neighbours of the stack whose requirements nobody read."""

    def of(self, package: LockedPackage, platform: str) -> DeclaredMetadata | None:
        """What the package states; None where nobody read it, or the project says it itself."""
        key = (id(package), platform)
        if key not in self._known:
            self._known[key] = self._find(package, platform)
        return self._known[key]

    def _find(self, package: LockedPackage, platform: str) -> DeclaredMetadata | None:
        if (package.name, package.version) in self._damaged:
            return None
        if package.name in self._replaced:  # `tool.uv.dependency-metadata` is the user's own word
            return None
        if package.metadata is not None:
            recorded = Evidence(
                kind=EvidenceKind.METADATA,
                source=f"the requirements of {package.name} as {self._lock.name} records them",
            )
            return _stated((str(line) for line in package.metadata.requires_dist), (recorded,))
        if package.source.kind is not SourceKind.REGISTRY or package.version is None:
            return None
        fact = self._fact(package, platform)
        if fact is not None:
            return fact
        read = self._from_disk_or_index().get(id(package))
        if read is None:
            if id(package) in self._neighbours():
                self.unread.add(f"{package.name}=={package.version}")
            return None
        wheel = package.wheels[0].filename if package.wheels else package.name
        return _stated(read, (Evidence(kind=EvidenceKind.METADATA, source=wheel),))

    def _fact(self, package: LockedPackage, platform: str) -> DeclaredMetadata | None:
        if not self._graph.packages.is_stack(package.name):
            return None
        try:
            version = Version(package.version or "")
        except InvalidVersion:
            return None
        release = self._graph.release(package.name, version)
        # Others build the same version with other requirements.
        if release is None or release.version.local != version.local:
            return None
        if is_other_build(package, release, self._usual):
            return None
        known = [wheel for wheel in release.wheels if wheel.requires is not None]
        if not known:
            return None
        own = release.wheel(platform)
        chosen = own if own in known else known[0]
        others = [set(wheel.requires or ()) for wheel in known if wheel is not chosen]
        disputed = [
            line for line in chosen.requires or () if any(line not in other for other in others)
        ]
        return _stated(chosen.requires or (), chosen.evidence, disputed)

    def _from_disk_or_index(self) -> Mapping[int, tuple[str, ...]]:
        if self._read is None:
            wanted = [
                package
                for package in self._lock.packages
                if package.wheels and (self._online or id(package) in self._neighbours())
            ]
            self._read = _from_index(wanted) if self._online else _from_disk(wanted)
        return self._read

    def _neighbours(self) -> frozenset[int]:
        """Packages that are, or depend on, a part of the stack."""
        if self._near is None:
            is_stack = self._graph.packages.is_stack
            self._near = frozenset(
                id(package)
                for package in self._lock.packages
                if is_stack(package.name)
                or any(is_stack(edge.name) for edge in package.dependencies)
                or any(
                    is_stack(edge.name)
                    for edges in package.optional_dependencies.values()
                    for edge in edges
                )
            )
        return self._near


def _from_disk(packages: list[LockedPackage]) -> Mapping[int, tuple[str, ...]]:
    """What an earlier run kept, without the machinery that asks an index."""
    cache = RequirementsCache.default()
    if not cache.folder.is_dir():
        return {}
    found: dict[int, tuple[str, ...]] = {}
    for package in packages:
        for wheel in sorted(package.wheels, key=_likely)[:_TRIED]:
            if (lines := cache.get(wheel.hash)) is not None:
                found[id(package)] = lines
                break
    return found


def _likely(wheel: LockedFile) -> int:
    """Which wheel of a release METADATA is read from first: see `stackfix_lockfiles.metadata`."""
    name = wheel.filename
    return 0 if name.endswith("-any.whl") else 1 if "linux" in name and "x86_64" in name else 2


def _from_index(packages: list[LockedPackage]) -> Mapping[int, tuple[str, ...]]:
    """By identity: a lock may hold several versions of one name, so names are asked in rounds."""
    from stackfix_lockfiles.metadata import requires

    found: dict[int, tuple[str, ...]] = {}
    rest = packages
    while rest:
        this_round = {package.name: package for package in reversed(rest)}
        read = requires(this_round.values(), offline=False)
        for name, package in this_round.items():
            if (lines := read.get(name)) is not None:
                found[id(package)] = lines
        rest = [package for package in rest if this_round[package.name] is not package]
    return found


def _stated(
    lines: Iterable[str], evidence: tuple[Evidence, ...], disputed: Iterable[str] = ()
) -> DeclaredMetadata:
    return DeclaredMetadata(
        lines=tuple(_parsed(lines)), evidence=evidence, disputed=frozenset(_parsed(disputed))
    )


def _parsed(lines: Iterable[str]) -> Iterator[RequirementLine]:
    return (line for text in lines if (line := read_requirement(text)) is not None)
