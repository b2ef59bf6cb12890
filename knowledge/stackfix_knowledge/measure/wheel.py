"""What one wheel carries: its metadata, and on request its binaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from stackfix_index.errors import Unreadable
from stackfix_index.wheel import read_metadata
from stackfix_knowledge.binaries.library import is_library
from stackfix_knowledge.binaries.members import Members, read_binaries
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.measure.builds import (
    cuda_from_code,
    cuda_from_names,
    jax_builds,
    package_of,
    stated_cuda,
)
from stackfix_knowledge.stack.packages import Lack, Role, package_table
from stackfix_knowledge.wheels.coverage import Coverage
from stackfix_knowledge.wheels.release import WheelFact

__all__ = [
    "measure_binaries",
    "measure_metadata",
    "pins",
    "shared_files",
]

_MARKERS: Mapping[str, Mapping[str, str]] = {
    "linux_x86_64": {"sys_platform": "linux", "platform_machine": "x86_64"},
    "linux_aarch64": {"sys_platform": "linux", "platform_machine": "aarch64"},
    "win_amd64": {"sys_platform": "win32", "platform_machine": "AMD64"},
    "macos_arm64": {"sys_platform": "darwin", "platform_machine": "arm64"},
}
_SYSTEMS = {"linux": ("Linux", "posix"), "win32": ("Windows", "nt"), "darwin": ("Darwin", "posix")}


def measure_metadata(
    file: str, metadata: str, *, platform: str, sha256: str | None, date: str
) -> WheelFact:
    """What a wheel's METADATA tells; ``date`` is today's, ISO 8601."""
    name, version, _, _ = parse_wheel_filename(file)
    read = read_metadata(metadata)
    pinned = pins(read.requires, platform)
    return WheelFact(
        file=file,
        sha256=sha256,
        platform=platform,
        cuda=cuda_from_names(name, version, pinned),
        cpu_only=_lacks(Lack.LIBRARIES, name) and not any(map(_is_library, pinned)),
        requires=read.requires,
        requires_python=read.requires_python,
        built_against=_built_with(name, pinned),
        evidence=(Evidence(kind=EvidenceKind.METADATA, source=file, date=date, sha256=sha256),),
    )


def measure_binaries(
    archive: Members, fact: WheelFact, *, date: str, faults: list[Unreadable] | None = None
) -> WheelFact:
    """The same wheel with its binaries read; for `faults` see `read_binaries`."""
    binaries = read_binaries(archive, faults=faults)
    try:
        stated, builds = stated_cuda(archive), dict(jax_builds(archive))
    except Unreadable as fault:
        if faults is None:
            raise
        faults.append(fault)
        stated, builds = None, {}
    cuda = stated or builds.pop("cuda", None) or fact.cuda or cuda_from_code(fact.file, binaries)
    return fact._replace(
        cuda=cuda,
        # Old wheels carry CUDA's libraries inside and name none: what was read counts.
        cpu_only=not binaries.coverage.has_device_code
        and (fact.cpu_only or _lacks(Lack.CODE, package_of(fact.file))),
        built_against={**fact.built_against, **builds},
        coverage=Coverage(binaries.coverage.libraries, cuda),
        ptxas=binaries.ptxas,
        needs=binaries.needs,
        evidence=(
            *(e for e in fact.evidence if e.kind is not EvidenceKind.MEASURED),
            Evidence(kind=EvidenceKind.MEASURED, source=fact.file, date=date, sha256=fact.sha256),
        ),
    )


def shared_files(names: Iterable[str]) -> tuple[str, ...]:
    """Paths that packages of one vendor share: libraries in the ``nvidia`` namespace."""
    return tuple(sorted(n for n in names if n.startswith("nvidia/") and is_library(n)))


def _lacks(what: Lack, name: str) -> bool:
    """Whether wheels of the package without it are for CPUs alone."""
    package = package_table().get(name)
    return package is not None and package.cpu_only_without is what


def _is_library(name: str) -> bool:
    package = package_table().get(name)
    return package is not None and package.role is Role.LIBRARY


def _built_with(name: str, pinned: Mapping[str, Version]) -> Mapping[str, Version]:
    """The versions of libraries that a package is compiled with, where those are what it pins."""
    packages = package_table()
    package = packages.get(name)
    return {
        library: pinned[other.name]
        for library in (package.built_with if package else ())
        for other in packages.providing(library)
        if other.name in pinned
    }


def pins(requires: Iterable[str], platform: str) -> Mapping[str, Version]:
    """The packages that a platform's installation pins exactly, without extras."""
    found: dict[str, Version] = {}
    for line in requires:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.marker is not None and not requirement.marker.evaluate(
            _environment(platform)
        ):
            continue
        for specifier in requirement.specifier:
            if specifier.operator == "==" and not specifier.version.endswith("*"):
                found[canonicalize_name(requirement.name)] = Version(specifier.version)
    return found


def _environment(platform: str) -> dict[str, Any]:
    chosen = _MARKERS.get(platform, _MARKERS["linux_x86_64"])
    system, os_name = _SYSTEMS[chosen["sys_platform"]]
    return {**chosen, "platform_system": system, "os_name": os_name, "extra": ""}
