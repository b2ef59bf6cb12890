"""PyTorch's own indexes: builds of torch with a local version part, as documented.

Nobody measured these wheels. Their coverage is what a build was documented to be compiled for, so
it counts as one container with all of those architectures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from packaging.version import Version

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.hardware import Architecture
from stackfix_knowledge.reader import Entry, Sources, read_facts
from stackfix_knowledge.wheels.coverage import Coverage, LibraryCoverage
from stackfix_knowledge.wheels.release import Ptxas, Release, WheelFact

__all__ = ["Companions", "IndexBuild", "IndexTable"]

_CPU = "cpu"


class IndexBuild(NamedTuple):
    """The builds of one minor version of torch on one index."""

    torch: str
    """The minor version, such as "2.7"."""
    home: str
    """The index's name, which is also the local version part ("cu128")."""
    cuda: Version
    """The toolkit that it was built with, as major.minor."""
    versions: tuple[Version, ...]
    """The patch releases, without the local part."""
    built_against: Mapping[str, Version]
    """Libraries that the wheel holds, as far as documented; what it pins: see `PinTable`."""
    code: Mapping[str, frozenset[Architecture] | None]
    """By platform, what it was compiled for; None where a build exists but nobody wrote it down."""
    linalg: frozenset[Architecture] | None
    """What its linear algebra has on Linux x86_64; None: the same, or nobody wrote it down."""
    ptxas: Mapping[str, Version]
    """By platform, the toolkit whose PTX assembler the wheel brings along."""
    confirmed: bool
    """Whether the documents agree that it exists."""
    stable: bool
    """Whether the documents call it stable rather than experimental."""
    evidence: tuple[Evidence, ...]
    note: str | None = None


class Companions(NamedTuple):
    """The releases that an index carries beside one version of torch, same local part."""

    torch: Version
    releases: Mapping[str, tuple[Version, ...]]
    """By package, "torchvision" and "torchaudio"."""
    evidence: tuple[Evidence, ...]


class IndexTable:
    """PyTorch's indexes and what each carries."""

    def __init__(self, file: Entry, url: str) -> None:
        self._file = file
        self._sources = file.sources()
        self._url = url
        self._releases: dict[str, tuple[Release, ...]] = {}

    @classmethod
    def load(cls, url: str | None = None) -> IndexTable:
        """The shipped table; `url`: where a mirror of the indexes is, with a slash at the end."""
        file = read_facts("indexes.toml")
        file.only("url", "sources", "cpu", "build", "companions")
        return cls(file, url or file.text("url"))

    @cached_property
    def builds(self) -> tuple[IndexBuild, ...]:
        """Every build that some document speaks of."""
        return tuple(_build(entry, self._sources) for entry in self._file.entries("build"))

    @cached_property
    def companions(self) -> tuple[Companions, ...]:
        """What stands beside each version of torch."""
        entries = self._file.entries("companions")
        return tuple(_companions(entry, self._sources) for entry in entries)

    def names(self) -> tuple[str, ...]:
        """The indexes with CUDA builds, oldest CUDA first ("cu117", "cu118", …)."""
        return tuple(sorted({build.home for build in self.builds}))

    def url(self, index: str) -> str:
        """The address of an index, as uv wants it."""
        return f"{self._url}{index}"

    def name_of(self, url: str) -> str | None:
        """The name of the index at an address, "cpu" among them; None: it is none of these."""
        base, _, name = url.rstrip("/").rpartition("/")
        if f"{base}/" != self._url:
            return None
        return name if name in {*self.names(), _CPU} else None

    def builds_of(self, torch: Version) -> tuple[IndexBuild, ...]:
        """The confirmed builds of that version of torch; its local part does not count."""
        public = Version(torch.public)
        return tuple(build for build in self.builds if public in build.versions and build.confirmed)

    def releases(self, package: str) -> tuple[Release, ...]:
        """The releases of a package on these indexes, ascending; only those confirmed."""
        if package not in self._releases:
            found = self._torch() if package == "torch" else self._companion(package)
            by_version = {release.version: release for release in found}
            self._releases[package] = tuple(by_version[key] for key in sorted(by_version))
        return self._releases[package]

    def _torch(self) -> Iterator[Release]:
        cpu: set[Version] = set()
        for build in self.builds:
            cpu.update(build.versions)
            if build.confirmed:
                for version in build.versions:
                    wheels = tuple(_wheel(build, version, platform) for platform in build.code)
                    yield _release("torch", version, build.home, wheels)
        for version in cpu:
            yield _release("torch", version, _CPU, (self._cpu_wheel("torch", version),))

    def _companion(self, package: str) -> Iterator[Release]:
        for companions in self.companions:
            versions = companions.releases.get(package, ())
            for version in versions:
                yield _release(package, version, _CPU, (self._cpu_wheel(package, version),))
                for build in self.builds_of(companions.torch):
                    wheels = tuple(
                        WheelFact(
                            file=_file(package, version, build.home, platform),
                            platform=platform,
                            cuda=build.cuda,
                            evidence=(*companions.evidence, *build.evidence),
                        )
                        for platform in build.code
                    )
                    yield _release(package, version, build.home, wheels)

    def _cpu_wheel(self, package: str, version: Version) -> WheelFact:
        return WheelFact(
            file=_file(package, version, _CPU, "any"),
            platform="any",
            cpu_only=True,
            coverage=Coverage(libraries=()),
            evidence=self._file.entry("cpu").evidence(self._sources),
        )


def _release(package: str, version: Version, index: str, wheels: tuple[WheelFact, ...]) -> Release:
    local = Version(f"{version}+{index}")
    return Release(package=package, version=local, date="", home=index, wheels=wheels)


def _file(package: str, version: Version, index: str, platform: str) -> str:
    return f"{package}-{version}+{index}-*-{platform}.whl"


def _wheel(build: IndexBuild, version: Version, platform: str) -> WheelFact:
    code = build.code[platform]
    libraries = [LibraryCoverage(name="torch, as documented", containers={code: 1})] if code else []
    if libraries and build.linalg and platform == "linux_x86_64":
        name = "libtorch_cuda_linalg.so, as documented"
        libraries.append(LibraryCoverage(name=name, containers={build.linalg: 1}))
    ptxas = build.ptxas.get(platform)
    return WheelFact(
        file=_file("torch", version, build.home, platform),
        platform=platform,
        cuda=build.cuda,
        built_against=build.built_against,
        coverage=Coverage(libraries=tuple(libraries), toolkit=build.cuda) if libraries else None,
        ptxas=(Ptxas(cuda=str(ptxas), targets=()),) if ptxas else (),
        evidence=build.evidence,
    )


def _build(entry: Entry, sources: Sources) -> IndexBuild:
    entry.only(
        "torch", "index", "cuda", "versions", "exists", "stable", "built-against",
        "code", "linalg", "ptxas", "source", "note",
    )  # fmt: skip
    exists = entry.optional_text("exists")
    if exists not in (None, "unconfirmed"):
        raise entry.fault("exists", '"unconfirmed", or nothing')
    built, ptxas = entry.entry("built-against"), entry.entry("ptxas")
    return IndexBuild(
        torch=entry.text("torch"),
        home=entry.text("index"),
        cuda=entry.version("cuda"),
        versions=entry.versions("versions"),
        built_against={library: built.version(library) for library in built.data},
        code=_code(entry),
        linalg=_architectures(entry, "linalg"),
        ptxas={platform: ptxas.version(platform) for platform in ptxas.data},
        confirmed=exists is None,
        stable=entry.flag("stable", default=True),
        evidence=entry.evidence(sources),
        note=entry.optional_text("note"),
    )


def _code(entry: Entry) -> Mapping[str, frozenset[Architecture] | None]:
    code = entry.entry("code")
    return {platform: _architectures(code, platform) for platform in code.data}


def _architectures(entry: Entry, key: str) -> frozenset[Architecture] | None:
    """The architectures under `key`; None where it is empty or absent."""
    try:
        return frozenset(map(Architecture.parse, (entry.data.get(key) or "").split())) or None
    except (AttributeError, ValueError) as error:
        raise entry.fault(key, 'architectures such as "sm_80 sm_90 compute_90"') from error


def _companions(entry: Entry, sources: Sources) -> Companions:
    return Companions(
        torch=entry.version("torch"),
        releases={
            package: entry.versions(package)
            for package in entry.data
            if package not in ("torch", "source")
        },
        evidence=entry.evidence(sources),
    )
