"""SF502: the lock disagrees with the wheels' metadata.

What: a locked version is one that a package of the same environment does not admit, a requirement
of a locked wheel is missing from the lock, or an entry lists the files of another version or with
another hash than the wheel has.

Why: `uv lock --check` and `uv sync --frozen` accept such a lock. It comes from tools that edit only
the version line, from merges, and from blocks that were swapped by hand. The next real resolution
reverts it without a word, or the environment breaks at import.

Evidence: metadata (the Requires-Dist of the wheels, as recorded in the facts, in the cache of an
earlier run, or, with `--online`, as the index has it); for the builds on PyTorch's own indexes,
what their build scripts say. What nobody read is unknown, and counted.

Fix: `uv lock --upgrade-package NAME`, which resolves again instead of editing.

Ignore: `[tool.stackfix] ignore = [{ code = "SF502", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from packaging.version import InvalidVersion, Version

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import is_other_build, usual_index
from stackfix.rules.locked import DeclaredEnvironment
from stackfix.rules.requires import DeclaredMetadata, admits
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.lock import Lock, LockedPackage, SourceKind
from stackfix_lockfiles.requirement import RequirementLine

__all__ = ["Disagrees"]

_MOST = 5
"""Requirements named in one message."""


class Disagrees:
    code = "SF502"
    title = "lock disagrees with the wheels' metadata"

    def judge(self, locked: DeclaredEnvironment) -> Iterator[Finding]:
        """What the packages of one environment say against each other's versions."""
        for package in locked.environment.packages.values():
            stated = locked.stated(package)
            if stated is None:
                continue
            truths = locked.truths_of(package)
            missing: list[RequirementLine] = []
            for line in stated.lines:
                if line.name in locked.overrides or line.name in locked.excludes:
                    continue  # SF503's
                if line in stated.disputed or not line.holds(truths):
                    continue
                other = locked.environment.packages.get(line.name)
                if other is None:
                    missing.append(line)
                elif other.version and admits(line.specifier, other.version) is False:
                    yield self._finding(
                        other.name,
                        other.version,
                        f"{_title(other)} is not what {_title(package)} requires: {line}",
                        stated.evidence,
                        fix=f"uv lock --upgrade-package {other.name}",
                    )
            if missing:
                yield self._left_out(package, missing, stated)

    def _left_out(
        self, package: LockedPackage, missing: list[RequirementLine], stated: DeclaredMetadata
    ) -> Finding:
        names = ", ".join(map(str, missing[:_MOST]))
        more = f" and {len(missing) - _MOST} more" if len(missing) > _MOST else ""
        return self._finding(
            package.name,
            package.version,
            f"{_title(package)} requires what the lock leaves out: {names}{more}",
            stated.evidence,
            fix=f"uv lock --upgrade-package {package.name}",
        )

    def judge_files(self, lock: Lock, graph: Graph) -> Iterator[Finding]:
        """Entries whose files are not those of the version that they name."""
        usual = usual_index(lock.packages)
        for package in lock.packages:
            if package.version is None or package.source.kind is not SourceKind.REGISTRY:
                continue
            wrong = _other_version(package)
            if wrong is not None:
                yield self._finding(
                    package.name,
                    package.version,
                    f"{_title(package)} lists the files of another version: {wrong}",
                    fix=f"uv lock --upgrade-package {package.name}",
                )
            elif graph.packages.is_stack(package.name):
                yield from self._hashes(package, graph, usual)

    def _hashes(self, package: LockedPackage, graph: Graph, usual: str | None) -> Iterator[Finding]:
        """Files with another hash than the measured wheel of that name.

        Where none of a release's wheels has the measured hash, it is another build of the version
        (PyTorch's index has its own for some platforms), and no fault.
        """
        release = graph.release(package.name, package.version or "")
        if release is None or is_other_build(package, release, usual):
            return
        known = {wheel.file: wheel for wheel in release.wheels if wheel.sha256}
        for file in package.wheels:
            fact = known.get(file.filename)
            if fact and file.hash and file.hash.lower() != f"sha256:{fact.sha256}":
                yield self._finding(
                    package.name,
                    package.version,
                    f"{_title(package)}: the lock has another hash for {file.filename} "
                    "than the wheel that was measured",
                    fact.evidence,
                )

    def _finding(
        self,
        package: str,
        version: str | None,
        message: str,
        evidence: tuple[Evidence, ...] = (),
        fix: str | None = None,
    ) -> Finding:
        metadata = tuple(e for e in evidence if e.kind is EvidenceKind.METADATA)
        return Finding(
            code=self.code,
            severity=Severity.ERROR,
            package=package,
            version=version or "",
            message=message,
            evidence=metadata or evidence,
            fix=fix,
        )


def _title(package: LockedPackage) -> str:
    return f"{package.name} {package.version}" if package.version else package.name


def _other_version(package: LockedPackage) -> str | None:
    """A file of another version than the entry names; None where all belong to it."""
    version = package.version or ""
    middle = f"-{version}-"
    for wheel in package.wheels:
        if middle not in wheel.filename and not _same(wheel.filename.split("-")[1:2], version):
            return wheel.filename
    if package.sdist and version not in package.sdist.filename:
        stem = package.sdist.filename.removesuffix(".tar.gz").removesuffix(".zip")
        if not _same([stem.rpartition("-")[2]], version):
            return package.sdist.filename
    return None


def _same(found: list[str], version: str) -> bool:
    """Whether a file name's version is that version. One that is not readable proves nothing."""
    try:
        named, wanted = Version(unquote(found[0]).replace("_", "+", 1)), Version(version)
    except (InvalidVersion, IndexError):
        return True
    return named == wanted or named.public == version.partition("+")[0]
