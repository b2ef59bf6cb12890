"""What one wheel carries: its metadata, and on request its binaries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from stackfix_knowledge.coverage import Coverage
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.measure.archive import is_library
from stackfix_knowledge.measure.builds import (
    FIRST_TOOLKITS,
    LANGUAGE_TOOLKITS,
    jax_builds,
    stated_cuda,
)
from stackfix_knowledge.measure.elf import is_elf
from stackfix_knowledge.measure.errors import MeasureError
from stackfix_knowledge.measure.library import MeasuredLibrary, measure_library
from stackfix_knowledge.measure.members import Members
from stackfix_knowledge.measure.metadata import pins, read_metadata
from stackfix_knowledge.measure.ptxas import is_ptxas, read_ptxas
from stackfix_knowledge.release import Ptxas, WheelFact

__all__ = ["Binaries", "measure_binaries", "measure_metadata", "read_binaries", "shared_files"]

_VERSION_IS_CUDA = re.compile(
    r"(cuda-toolkit|nvidia-(cuda-(runtime|nvrtc|cupti|nvcc|crt)|nvjitlink|nvtx|nvvm)(-cu1[12])?)"
)
"""Packages whose own version begins with that of the CUDA toolkit."""

_HAS_GPU_BUILDS = frozenset({"torch"})
"""Frameworks whose wheels are for CPUs alone where they require no GPU library."""

_HAS_GPU_CODE = frozenset({"tensorflow", "torchvision"})
"""Packages whose wheels are for CPUs alone where they hold no GPU code."""

_SYSTEM = re.compile(
    r"(ld-linux.*|lib(c|m|dl|rt|pthread|util|gcc_s|stdc\+\+|resolv|z|atomic))\.so(\.\d+)*"
)
"""Libraries of every Linux system: no fact about a GPU stack."""

_LARGEST_PTXAS = 512 * 1024 * 1024
"""Bytes of a PTX assembler; the largest known has 50 MB."""

_MAJOR_IN_NAME = re.compile(r"-cu(?:da)?(1[1-9])x?$")

_SONAME_MAJOR = re.compile(r"libcudart\.so\.(\d+)(\.0)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Binaries:
    """What the binaries of a wheel, a folder or a single library carry."""

    coverage: Coverage
    needs: tuple[str, ...]
    """Shared libraries that they ask for and that are not among them, those of the system out."""
    ptxas: tuple[Ptxas, ...]
    ptx_version: tuple[int, int] | None
    """The newest PTX language version among them."""


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
        cuda=_cuda_from_names(name, version, pinned),
        cpu_only=name in _HAS_GPU_BUILDS and not any(map(_is_gpu_library, pinned)),
        requires=read.requires,
        requires_python=read.requires_python,
        built_against=_torch_builds(pinned) if name == "torch" else {},
        evidence=(Evidence(kind=EvidenceKind.METADATA, source=file, date=date, sha256=sha256),),
    )


def measure_binaries(
    archive: Members, fact: WheelFact, *, date: str, faults: list[MeasureError] | None = None
) -> WheelFact:
    """The same wheel with its binaries read; for `faults` see `read_binaries`."""
    binaries = read_binaries(archive, faults=faults)
    try:
        stated, builds = stated_cuda(archive), dict(jax_builds(archive))
    except MeasureError as fault:
        if faults is None:
            raise
        faults.append(fault)
        stated, builds = None, {}
    cuda = stated or builds.pop("cuda", None) or fact.cuda or _cuda_from_code(fact.file, binaries)
    return replace(
        fact,
        cuda=cuda,
        # Old wheels carry CUDA's libraries inside and name none: what was read counts.
        cpu_only=not binaries.coverage.has_device_code
        and (fact.cpu_only or _lacks_gpu_code(fact.file, binaries)),
        built_against={**fact.built_against, **builds},
        coverage=replace(binaries.coverage, toolkit=cuda),
        ptxas=binaries.ptxas,
        needs=binaries.needs,
        evidence=(
            *(e for e in fact.evidence if e.kind is not EvidenceKind.MEASURED),
            Evidence(kind=EvidenceKind.MEASURED, source=fact.file, date=date, sha256=fact.sha256),
        ),
    )


def read_binaries(archive: Members, *, faults: list[MeasureError] | None = None) -> Binaries:
    """Measure every library and PTX assembler of a wheel, one at a time.

    A damaged one is added to `faults` and left out; without `faults` it raises.
    """
    found: list[MeasuredLibrary | Ptxas] = []
    for name in archive.names():
        try:
            measured = _member(archive, name)
        except MeasureError as fault:
            if faults is None:
                raise
            faults.append(fault)
            continue
        if measured is not None:
            found.append(measured)
    return binaries_of(
        [one for one in found if isinstance(one, MeasuredLibrary)],
        dict.fromkeys(one for one in found if isinstance(one, Ptxas)),
    )


def _member(archive: Members, name: str) -> MeasuredLibrary | Ptxas | None:
    """What a file of the wheel is, measured; None for anything but a library or assembler."""
    if is_library(name):
        with archive.mapped(name) as data:
            return measure_library(data, name=name) if is_elf(data[:6]) else None
    if is_ptxas(name):
        with archive.mapped(name) as data:
            return read_ptxas(data) if len(data) <= _LARGEST_PTXAS else None
    return None


def binaries_of(libraries: Iterable[MeasuredLibrary], assemblers: Iterable[Ptxas]) -> Binaries:
    """Put measured libraries together."""
    libraries = tuple(libraries)
    own = {library.coverage.name.rpartition("/")[2] for library in libraries}
    own |= {library.elf.soname for library in libraries if library.elf.soname}
    asked = {name for library in libraries for name in library.elf.needed}
    return Binaries(
        coverage=Coverage(
            libraries=tuple(
                sorted(
                    (lib.coverage for lib in libraries if lib.coverage.has_device_code),
                    key=lambda library: library.name,
                )
            )
        ),
        needs=tuple(sorted(n for n in asked - own if not _SYSTEM.fullmatch(n))),
        ptxas=tuple(assemblers),
        ptx_version=max((lib.ptx_version for lib in libraries if lib.ptx_version), default=None),
    )


def shared_files(names: Iterable[str]) -> tuple[str, ...]:
    """Paths that packages of one vendor share: libraries in the ``nvidia`` namespace."""
    return tuple(sorted(n for n in names if n.startswith("nvidia/") and is_library(n)))


def metadata_of(archive: Members) -> str:
    """The METADATA of a wheel; raise MeasureError where it has none."""
    for name in archive.names():
        if re.fullmatch(r"[^/]+\.dist-info/METADATA", name):
            return archive.text(name)
    raise MeasureError(archive.name, None, "a wheel with METADATA in it")


def _is_gpu_library(name: str) -> bool:
    return name.startswith("nvidia-") or name in ("cuda-toolkit", "cuda-bindings")


def _lacks_gpu_code(file: str, binaries: Binaries) -> bool:
    return _package(file) in _HAS_GPU_CODE and not binaries.coverage.has_device_code


def _package(file: str) -> str:
    """The package of a wheel's file name; of any other, such as a library's, its beginning."""
    return canonicalize_name(file.partition("-")[0])


def _torch_builds(pinned: Mapping[str, Version]) -> Mapping[str, Version]:
    """torch is compiled with the very cuDNN and NCCL that it pins."""
    return {
        library: version
        for name, version in pinned.items()
        for library in ("cudnn", "nccl")
        if re.fullmatch(rf"nvidia-{library}-cu\d+", name)
    }


def _cuda_from_names(name: str, version: Version, pinned: Mapping[str, Version]) -> Version | None:
    if _VERSION_IS_CUDA.fullmatch(canonicalize_name(name)):
        return _toolkit(version)
    for pin, pinned_version in pinned.items():
        if pin == "cuda-toolkit" or re.fullmatch(r"nvidia-cuda-runtime(-cu\d+)?", pin):
            return _toolkit(pinned_version)
    return None


def _cuda_from_code(file: str, binaries: Binaries) -> Version | None:
    """The oldest toolkit that can have built it; None where nothing tells, or several did.

    That is the newest of: the one that its PTX needs, the first that knew the newest card that
    it has code for, the runtime that it needs, and the major in its name.
    """
    runtimes = {found[1] for name in binaries.needs if (found := _SONAME_MAJOR.fullmatch(name))}
    if len(runtimes) > 1:
        return None
    told = list(runtimes)
    if binaries.ptx_version in LANGUAGE_TOOLKITS:
        told.append(LANGUAGE_TOOLKITS[binaries.ptx_version])
    for image in binaries.coverage.architectures():
        told += [FIRST_TOOLKITS[image.capability]] if image.capability in FIRST_TOOLKITS else []
    if named := _MAJOR_IN_NAME.search(_package(file)):
        told.append(named[1])
    newest = max(told, key=lambda text: (Version(text), len(text)), default=None)
    return Version(newest) if newest else None


def _toolkit(version: Version) -> Version:
    """The toolkit of a version of the CUDA runtime: 12.8 for 12.8.90."""
    return Version(f"{version.major}.{version.minor}")
