"""What a wheel was built with: what its files say, its names, and its code. Nothing is executed."""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Iterator, Mapping
from functools import cache

from packaging.utils import canonicalize_name
from packaging.version import Version

from stackfix_knowledge.binaries.elf import read_elf
from stackfix_knowledge.binaries.members import Binaries, Members
from stackfix_knowledge.cards.cuda import cuda_table
from stackfix_knowledge.reader import Entry, read_facts
from stackfix_knowledge.stack.packages import Numbering, package_table

__all__ = [
    "cuda_from_code",
    "cuda_from_names",
    "jax_builds",
    "package_of",
    "parse_statements",
    "stated_cuda",
    "statements",
]

_MAJOR_IN_NAME = re.compile(r"-cu(?:da)?(1[1-9])x?$")

_SONAME_MAJOR = re.compile(r"libcudart\.so\.(\d+)(\.0)?")

_LARGEST_VERSIONS_MODULE = 64 * 1024 * 1024
_MOV_EDI, _CALLS = 0xBF, (0xE8, 0xE9)
_MOVZ_W0, _MOVK_W0_16 = 0x52800000, 0x72A00000


@cache
def statements() -> Mapping[str, re.Pattern[str]]:
    """Files that state the CUDA toolkit in their text, and how: `facts/statements.toml`."""
    return parse_statements(read_facts("statements.toml"))


def parse_statements(file: Entry) -> Mapping[str, re.Pattern[str]]:
    """Read a file of statements. Raises FactsError."""
    file.only("sources", "statement")
    sources = file.sources()
    found = {}
    for entry in file.entries("statement"):
        entry.only("file", "pattern", "source")
        entry.evidence(sources)
        pattern = entry.pattern("pattern")
        if pattern.groups != 1:
            raise entry.fault("pattern", "one group: the version")
        found[entry.text("file")] = pattern
    return found


def stated_cuda(archive: Members) -> Version | None:
    """The CUDA toolkit that a file of the wheel states; None where none does."""
    names = set(archive.names())
    for path, statement in statements().items():
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
    packages = package_table()
    own = packages.get(canonicalize_name(name))
    if own is not None and own.numbered_as is Numbering.TOOLKIT:
        return _toolkit(version)
    for pin, pinned_version in pinned.items():
        package = packages.get(pin)
        if package is not None and package.provides in ("cuda-toolkit", "cudart"):
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
    cuda = cuda_table()
    told = [Version(runtime) for runtime in runtimes]
    if binaries.ptx_version and (writer := cuda.first_writing(binaries.ptx_version)):
        told.append(writer)
    cards = {image.capability for image in binaries.coverage.architectures()}
    told += [first for card in cards if (first := cuda.first_building(card))]
    if named := _MAJOR_IN_NAME.search(package_of(file)):
        told.append(Version(named[1]))
    return max(told, key=lambda toolkit: (toolkit, len(toolkit.release)), default=None)


def _toolkit(version: Version) -> Version:
    """The toolkit of a version of the CUDA runtime: 12.8 for 12.8.90."""
    return Version(f"{version.major}.{version.minor}")
