"""What a wheel was built with: what its files say, its names, and its code. Nothing is executed."""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterator, Mapping

from packaging.utils import canonicalize_name
from packaging.version import Version

from stackfix_knowledge.binaries.elf import read_elf
from stackfix_knowledge.binaries.members import Binaries, Members
from stackfix_knowledge.hardware import ComputeCapability

__all__ = [
    "STATEMENTS",
    "cuda_from_code",
    "cuda_from_names",
    "jax_builds",
    "package_of",
    "stated_cuda",
]

LANGUAGE_TOOLKITS: Mapping[tuple[int, int] | None, str] = {
    (7, 4): "11.4", (7, 5): "11.5", (7, 6): "11.6", (7, 7): "11.7", (7, 8): "11.8",
    (8, 0): "12.0", (8, 1): "12.1", (8, 2): "12.2", (8, 3): "12.3", (8, 4): "12.4",
    (8, 5): "12.5", (8, 6): "12.7", (8, 7): "12.8", (8, 8): "12.9",
    (9, 0): "13.0", (9, 1): "13.1", (9, 2): "13.2", (9, 3): "13.3", (9, 4): "13.4", (9, 5): "13.5",
}  # fmt: skip
"""The first toolkit of each PTX language version, which is also the one its driver must know.

Source: PTX ISA, release history, and for 9.3 and 9.4 the cuRAND wheels of CUDA 13.3 and 13.4;
9.5 is newer than 13.4, and 13.5 the only newer toolkit. 12.6 writes the language of 12.5.
"""

_FIRST_TOOLKITS: Mapping[ComputeCapability, str] = {
    ComputeCapability.parse(card): toolkit
    for card, toolkit in {
        "8.9": "11.8", "9.0": "11.8", "10.0": "12.8", "10.1": "12.8", "12.0": "12.8",
        "10.3": "12.9", "12.1": "12.9", "11.0": "13.0",
    }.items()
}  # fmt: skip
"""The first toolkit whose compiler knows a card.

Source: PTX assemblers of the nvidia-cuda-nvcc wheels, as the facts about those have them.
"""

STATEMENTS = {
    "torch/version.py": re.compile(r"^cuda\b[^=\n]*= *['\"](\d+\.\d+(?:\.\d+)?)['\"]", re.M),
    "tensorflow/python/platform/build_info.py": re.compile(
        r"'cuda_version', *'(\d+\.\d+(?:\.\d+)?)'"
    ),
    "onnxruntime/capi/build_and_package_info.py": re.compile(
        r"^cuda_version *= *['\"](\d+\.\d+(?:\.\d+)?)['\"]", re.M
    ),
}
"""Files that state the CUDA toolkit in their text, and how."""

_VERSION_IS_CUDA = re.compile(
    r"(cuda-toolkit|nvidia-(cuda-(runtime|nvrtc|cupti|nvcc|crt)|nvjitlink|nvtx|nvvm)(-cu1[12])?)"
)
"""Packages whose own version begins with that of the CUDA toolkit."""

_MAJOR_IN_NAME = re.compile(r"-cu(?:da)?(1[1-9])x?$")

_SONAME_MAJOR = re.compile(r"libcudart\.so\.(\d+)(\.0)?")

_LARGEST_VERSIONS_MODULE = 64 * 1024 * 1024
_MOV_EDI, _CALLS = 0xBF, (0xE8, 0xE9)
_MOVZ_W0, _MOVK_W0_16 = 0x52800000, 0x72A00000


def stated_cuda(archive: Members) -> Version | None:
    """The CUDA toolkit that a file of the wheel states; None where none does."""
    names = set(archive.names())
    for path, statement in STATEMENTS.items():
        if path in names and (found := statement.search(archive.text(path))):
            return Version(found[1])
    return None


def jax_builds(archive: Members) -> Mapping[str, Version]:
    """CUDA and cuDNN that a jax plugin was built with, by ``"cuda"`` and ``"cudnn"``.

    Its module ``_versions`` has one function for each library, which does nothing but return a
    number; the compiler emits them in the order of the source: CUDA runtime, then cuDNN. Empty
    where the module is missing or does not look like that.
    """
    for name in archive.names():
        if re.fullmatch(r"jax_cuda\d+_plugin/_versions\.(\S+\.)?so", name):
            data = archive.read(name, limit=_LARGEST_VERSIONS_MODULE)
            elf = read_elf(data, name=f"{archive.name}: {name}")
            text = elf.section(".text")
            if text is None:
                return {}
            read = _loaded_on_arm if elf.machine == "aarch64" else _loaded_on_x86
            return _pair(list(read(data[text.offset : text.end])))
    return {}


def _pair(constants: list[int]) -> Mapping[str, Version]:
    """The one place where a CUDA version is followed by a cuDNN version."""
    found = {
        (runtime, cudnn)
        for runtime, cudnn in itertools.pairwise(constants)
        if 11000 <= runtime < 20000 and runtime % 10 == 0 and 90000 <= cudnn < 100000
    }
    if len(found) != 1:
        return {}
    runtime, cudnn = found.pop()
    return {
        "cuda": Version(f"{runtime // 1000}.{runtime % 1000 // 10}"),
        "cudnn": Version(f"{cudnn // 10000}.{cudnn // 100 % 100}.{cudnn % 100}"),
    }


def _loaded_on_x86(code: bytes) -> Iterator[int]:
    """Constants of ``mov edi, CONSTANT; call`` worth being a version."""
    position = code.find(_MOV_EDI)
    while 0 <= position < len(code) - 5:
        if code[position + 5] in _CALLS:
            value = int.from_bytes(code[position + 1 : position + 5], "little")
            if 10_000 <= value < 1_000_000:
                yield value
        position = code.find(_MOV_EDI, position + 1)


def _loaded_on_arm(code: bytes) -> Iterator[int]:
    """Constants of ``mov w0, LOW`` with or without ``movk w0, HIGH`` worth being a version."""
    words = struct.unpack(f"<{len(code) // 4}I", code[: len(code) // 4 * 4])
    for word, following in itertools.pairwise(words):
        if word & 0xFFE0001F == _MOVZ_W0:
            value = word >> 5 & 0xFFFF
            if following & 0xFFE0001F == _MOVK_W0_16:
                value |= (following >> 5 & 0xFFFF) << 16
            if 10_000 <= value < 1_000_000:
                yield value


def package_of(file: str) -> str:
    """The package of a wheel's file name; of any other, such as a library's, its beginning."""
    return canonicalize_name(file.partition("-")[0])


def cuda_from_names(name: str, version: Version, pinned: Mapping[str, Version]) -> Version | None:
    if _VERSION_IS_CUDA.fullmatch(canonicalize_name(name)):
        return _toolkit(version)
    for pin, pinned_version in pinned.items():
        if pin == "cuda-toolkit" or re.fullmatch(r"nvidia-cuda-runtime(-cu\d+)?", pin):
            return _toolkit(pinned_version)
    return None


def cuda_from_code(file: str, binaries: Binaries) -> Version | None:
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
        told += [_FIRST_TOOLKITS[image.capability]] if image.capability in _FIRST_TOOLKITS else []
    if named := _MAJOR_IN_NAME.search(package_of(file)):
        told.append(named[1])
    newest = max(told, key=lambda text: (Version(text), len(text)), default=None)
    return Version(newest) if newest else None


def _toolkit(version: Version) -> Version:
    """The toolkit of a version of the CUDA runtime: 12.8 for 12.8.90."""
    return Version(f"{version.major}.{version.minor}")
