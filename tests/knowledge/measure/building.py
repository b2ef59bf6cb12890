"""Build real bytes to measure: fatbins, ELF files, wheels."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from stackfix_knowledge.hardware import Architecture, CodeKind

NCCL_WHEEL = "nvidia_nccl_cu12-2.27.3-py3-none-manylinux2014_x86_64.whl"


def image(
    text: str, payload: bytes = b"\xa2\x7fELF\x02\x01\x01\0", ptx: tuple[int, int] = (8, 7)
) -> bytes:
    """One image, such as ``sm_90a``, with its header of 64 bytes."""
    parsed = Architecture.parse(text)
    is_ptx = parsed.kind is CodeKind.PTX
    number = parsed.capability.major * 10 + parsed.capability.minor
    flags = 0x11 | {"": 0, "a": 0x100000, "f": 0x200000}[parsed.variant]
    header = struct.pack("<HHIQ", 1 if is_ptx else 2, 0x101, 64, len(payload))
    header += struct.pack("<II", len(payload), 0)
    major, minor = ptx if is_ptx else (1, 7)
    header += struct.pack("<HHIII", minor, major, number, 0, 0)
    header += struct.pack("<Q", flags)
    return header.ljust(64, b"\0") + payload


def container(*images: str, ptx: tuple[int, int] = (8, 7)) -> bytes:
    """One container with those images."""
    body = b"".join(image(text, ptx=ptx) for text in images)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def fatbin(*containers: str, ptx: tuple[int, int] = (8, 7)) -> bytes:
    """Containers such as ``"sm_80 sm_90"``, one after the other, padded as compilers do."""
    return b"".join(container(*images.split(), ptx=ptx) + bytes(8) for images in containers)


def elf(
    sections: Mapping[str, bytes] | None = None,
    *,
    needed: Iterable[str] = (),
    soname: str | None = None,
    machine: int = 62,
) -> bytes:
    """A shared library with those sections, as little as loaders and tools accept."""
    strings = bytearray(b"\0")
    tags = b""
    for tag, name in [(1, name) for name in needed] + ([(14, soname)] if soname else []):
        tags += struct.pack("<qQ", tag, len(strings))
        strings += name.encode() + b"\0"
    tags += struct.pack("<qQ", 0, 0)
    contents: list[tuple[str, int, int, bytes]] = [
        ("", 0, 0, b""),
        (".dynstr", 3, 0, bytes(strings)),
    ]
    contents.append((".dynamic", 6, 1, tags))
    contents += [(name, 1, 0, data) for name, data in (sections or {}).items()]
    names = b"".join(name.encode() + b"\0" for name, *_ in contents) + b".shstrtab\0"
    contents.append((".shstrtab", 3, 0, names))
    body, table, name_at = bytearray(), b"", 0
    for name, kind, link, data in contents:
        offset = 64 + len(body)
        entry_size = 16 if kind == 6 else 0
        size = len(data)
        table += struct.pack(
            "<IIQQQQIIQQ", name_at, kind, 0, 0, offset if kind else 0, size, link, 0, 8, entry_size
        )
        body += data + bytes(-len(data) % 8)
        name_at += len(name) + 1
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQI", 3, machine, 1, 0, 0, 64 + len(body), 0)
    header += struct.pack("<HHHHHH", 64, 0, 0, 64, len(contents), len(contents) - 1)
    return header + bytes(body) + table


def metadata(name: str, version: str, *lines: str) -> str:
    """METADATA with further lines such as ``Requires-Dist: numpy``."""
    return "\n".join(["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *lines, ""])


def wheel(members: Mapping[str, bytes | str]) -> bytes:
    """A zip file with those members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def nccl_wheel() -> bytes:
    """A wheel like NVIDIA's NCCL: one library, code for several cards."""
    library = elf(
        {".nv_fatbin": fatbin("sm_80 sm_90 compute_90"), "__nv_relfatbin": fatbin("sm_80 sm_90")},
        needed=["libc.so.6", "libcudart.so.12"],
        soname="libnccl.so.2",
    )
    return wheel(
        {
            "nvidia/nccl/lib/libnccl.so.2": library,
            "nvidia_nccl_cu12-2.27.3.dist-info/METADATA": metadata(
                "nvidia-nccl-cu12", "2.27.3", "Requires-Python: >=3"
            ),
        }
    )


def install(
    site: Path,
    name: str,
    version: str,
    files: Mapping[str, bytes],
    *,
    requires: Iterable[str] = (),
    tag: str = "cp311-cp311-manylinux_2_28_x86_64",
) -> None:
    """Install files as a package, the way installers do; ``name`` as in file names."""
    info = f"{name}-{version}.dist-info"
    texts = {
        f"{info}/METADATA": metadata(name, version, *(f"Requires-Dist: {r}" for r in requires)),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nTag: {tag}\n",
    }
    members = {**files, **{path: text.encode() for path, text in texts.items()}}
    members[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in members).encode()
    for path, data in members.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(data)
