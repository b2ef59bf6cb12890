"""Derive what PyTorch's own indexes serve: `python -m tests.registry.derive UV_LOCK…`.

Those indexes are not asked. The given locks hold wheels of theirs with hashes. METADATA is the
default index's of the same public version with the requirements that the facts document for the
build; for builds that facts do not know (ROCm, XPU) the CUDA libraries are replaced by what the
locks hold beside. Builds that facts document and no lock has get file names and hashes made up.
Each recording says so in its note; a made-up file has no place on any real index.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.requirements import Requirement
from packaging.version import Version

from stackfix_knowledge.graph import Graph
from tests.registry.recording import PYTORCH, RecordedFile, Recording, digest

HOST = "download.pytorch.org"
PACKAGES = ("torch", "torchvision", "torchaudio")
NOTE = (
    "Derived, not recorded. Wheels and hashes: uv.lock files of public projects. METADATA: that of "
    "the default index's release of the same public version, with the requirements that the facts "
    "document for the build, or, where they do not know it, with what these locks hold beside it. "
    "Files below made-up/: builds that are documented and in no lock; name and hash are made up."
)
TAGS = {
    "linux_x86_64": "manylinux_2_28_x86_64",
    "linux_aarch64": "manylinux_2_28_aarch64",
    "win_amd64": "win_amd64",
}
PYTHONS = ("cp310", "cp311", "cp312", "cp313")
_LIBRARY = re.compile(r"nvidia-|cuda-|triton|pytorch-triton")


@dataclass(slots=True)
class Build:
    """One version of a package on one index, as the locks have it."""

    files: dict[str, str] = field(default_factory=dict)
    """Hash by file name."""
    libraries: tuple[str, ...] = ()
    """The GPU libraries that it asks for, "pytorch-triton-rocm==3.5.1"."""


Builds = dict[tuple[str, str, str], Build]
"""By index, package and version."""


def collected(locks: Iterable[Path]) -> Builds:
    """All builds of PyTorch's indexes in these locks."""
    builds: Builds = {}
    for path in locks:
        packages = tomllib.loads(path.read_text(encoding="utf-8"))["package"]
        locked: dict[str, set[str]] = {}
        for package in packages:
            locked.setdefault(package["name"], set()).add(package.get("version", ""))
        for package in packages:
            address = urlsplit(package["source"].get("registry", ""))
            index = address.path.rstrip("/").rpartition("/")[2]
            plain = address.path.rstrip("/") == f"/whl/{index}"
            if address.netloc != HOST or package["name"] not in PACKAGES or not plain:
                continue
            build = builds.setdefault((index, package["name"], package["version"]), Build())
            for wheel in package["wheels"]:
                name = unquote(wheel["url"].rpartition("/")[2])
                build.files[name] = wheel.get("hash", "").removeprefix("sha256:")
            libraries = tuple(_libraries(package, locked))
            build.libraries = max(build.libraries, libraries, key=len)
    return builds


def _libraries(package: Mapping[str, Any], locked: Mapping[str, set[str]]) -> Iterator[str]:
    for dependency in package.get("dependencies", ()):
        name = dependency["name"]
        versions = locked.get(name, set())
        version = dependency.get("version") or (min(versions) if len(versions) == 1 else None)
        if not _LIBRARY.match(name) or version is None:
            continue
        extras = f"[{','.join(dependency['extra'])}]" if "extra" in dependency else ""
        yield f"{name}{extras}=={version}"


def documented(builds: Builds, graph: Graph) -> Builds:
    """The builds that facts document and no lock has."""
    found: Builds = {}
    for package in PACKAGES:
        for release in graph.indexes.releases(package):
            index, public = release.home or "", release.version.public
            if index == "cpu":
                continue
            known = builds.get((index, package, str(release.version)), Build())
            platforms = [w.platform for w in release.wheels if w.platform in TAGS]
            files = {
                f"{package}-{public}+{index}-{python}-{python}-{TAGS[platform]}.whl": ""
                for python in PYTHONS
                for platform in platforms
                if not any(f"-{python}-" in name and platform[-6:] in name for name in known.files)
            }
            if known.files:
                known.files |= files
                continue
            found[(index, package, str(release.version))] = Build(files)
    return found


def metadata(package: str, version: str, build: Build, known: Recording, graph: Graph) -> str:
    """METADATA of a build, after the default index's of the same public version."""
    public = Version(version).public
    texts = [t for t in known.metadata.values() if f"\nVersion: {public}\n" in t]
    plain = f"Metadata-Version: 2.1\nName: {package}\nVersion: {public}\n"
    head, usual = [], []
    for line in max(texts, key=len, default=plain).splitlines():
        key, _, value = line.partition(": ")
        if key == "Requires-Dist":
            usual.append(value)
        else:
            head.append(f"Version: {version}" if key == "Version" else line)
    requires = _documented_requires(graph, package, version) or _beside(usual, build)
    return "\n".join([*head, *(f"Requires-Dist: {line}" for line in requires)]) + "\n"


def _documented_requires(graph: Graph, package: str, version: str) -> tuple[str, ...] | None:
    release = graph.release(package, version)
    if release is None or release.version != Version(version):
        return None
    return release.wheels[0].requires


def _beside(usual: Iterable[str], build: Build) -> Iterator[str]:
    """The default index's requirements, with the libraries of the locks in place of CUDA's."""
    yield from (line for line in usual if not _LIBRARY.match(Requirement(line).name))
    yield from (f'{library}; platform_system == "Linux"' for library in build.libraries)


def derive(locks: list[Path]) -> None:
    """Write the recordings; prints how much there is."""
    graph = Graph.load()
    real = collected(locks)
    made = documented(real, graph)
    recordings: dict[tuple[str, str], Recording] = {}
    for (index, package, version), build in {**real, **made}.items():
        known = Recording.load(package)
        if known is None:
            continue
        text = metadata(package, version, build, known, graph)
        recording = recordings.setdefault((index, package), Recording(name=package, note=NOTE))
        recording.metadata[digest(text)] = text
        recording.files += [
            RecordedFile(
                filename=name,
                path=f"{'whl' if sha256 else 'made-up'}/{index}/{name}",
                sha256=sha256 or digest(name),
                size=0,
                upload_time="",
                metadata=digest(text),
            )
            for name, sha256 in build.files.items()
        ]
    for old in PYTORCH.rglob("*.json.gz"):
        old.unlink()
    total = sum(r.save(PYTORCH / index) for (index, _), r in recordings.items())
    sys.stdout.write(f"{len(real)} builds of locks, {len(made)} documented, {total / 1e6:.2f} MB\n")


if __name__ == "__main__":
    derive([Path(name) for name in sys.argv[1:]])
