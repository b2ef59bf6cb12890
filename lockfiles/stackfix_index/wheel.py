"""The files in a wheel, whether it lies on disk or on a server, within bounds.

A wheel is a zip file made by strangers. Every limit here is far above what real wheels need, and
passing one is an error that names it.
"""

from __future__ import annotations

import io
import mmap
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import IO, Protocol, cast

from stackfix_index.errors import Unreadable
from stackfix_index.remote import RemoteFile
from stackfix_index.simple import LARGEST_METADATA

__all__ = ["Metadata", "Wheel", "metadata_of", "read_metadata"]

_LARGEST_DIRECTORY = 8 * 1024 * 1024
"""Bytes of the zip directory; the fullest known wheel has 3 MB."""
_LARGEST_MEMBER = 4 * 1024**3
"""Bytes of one library, unpacked; the largest known has 2 GB."""
_LARGEST_SUM = 12 * 1024**3
"""Bytes of all that is unpacked from one wheel."""
_CHUNK = 4 * 1024 * 1024

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    ValueError,
    RuntimeError,  # an encrypted member; NotImplementedError, an unknown compression, is one too
)
"""What zipfile raises over a damaged file."""


class Wheel:
    """A wheel's members; close it after use (it is a context manager)."""

    def __init__(self, file: Path | RemoteFile, *, name: str) -> None:
        """Read the directory of a wheel; `name` is what errors call it."""
        self.name = name
        self._raw = file if isinstance(file, RemoteFile) else _opened(file)
        self._unpacked = 0
        try:
            # Guarded reads like a file in the only ways that zipfile uses.
            self._zip = zipfile.ZipFile(cast(IO[bytes], _Guarded(self._raw, name)))
        except _DAMAGE as error:
            self._raw.close()
            raise Unreadable(name, None, f"a wheel, which is a zip file ({error})") from error
        except BaseException:
            self._raw.close()
            raise
        offsets = sorted({info.header_offset for info in self._zip.infolist()})
        # Not strict: a directory without a single file has an end and no beginning.
        self._ends = dict(zip(offsets, [*offsets[1:], self._zip.start_dir], strict=False))

    def names(self) -> tuple[str, ...]:
        """The names of its files, in the order of the directory, each once."""
        return tuple(dict.fromkeys(i.filename for i in self._zip.infolist() if not i.is_dir()))

    def size(self, member: str) -> int:
        """The unpacked size of a member in bytes, as the directory states it."""
        return self._zip.getinfo(member).file_size

    def text(self, member: str) -> str:
        """A small member as text; bytes that are no UTF-8 become replacement characters."""
        return self.read(member, limit=LARGEST_METADATA).decode("utf-8", "replace")

    def read(self, member: str, *, limit: int) -> bytes:
        """A small member as bytes; one larger than the limit (bytes) is an error."""
        with self._member(member, limit) as stream:
            return b"".join(self._chunks(stream, member, limit))

    @contextmanager
    def mapped(self, member: str) -> Iterator[bytes | mmap.mmap]:
        """A large member, unpacked to a temporary file that is gone afterwards."""
        with tempfile.TemporaryFile() as spool:
            with self._member(member, _LARGEST_MEMBER) as stream:
                for chunk in self._chunks(stream, member, _LARGEST_MEMBER):
                    spool.write(chunk)
            spool.flush()
            if spool.tell() == 0:
                yield b""
                return
            with mmap.mmap(spool.fileno(), 0, access=mmap.ACCESS_READ) as data:
                yield data

    def close(self) -> None:
        """Close the wheel."""
        self._zip.close()
        self._raw.close()

    def __enter__(self) -> Wheel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _member(self, member: str, limit: int) -> Iterator[IO[bytes]]:
        info = self._zip.getinfo(member)
        if info.file_size > limit:
            raise Unreadable(self.name, member, f"at most {limit:,} bytes")
        if isinstance(self._raw, RemoteFile):
            self._raw.expect(info.header_offset, self._ends[info.header_offset])
        try:
            with self._zip.open(info) as stream:
                yield stream
        except _DAMAGE as error:
            raise Unreadable(
                self.name, member, f"a member that can be unpacked ({error})"
            ) from error

    def _chunks(self, stream: IO[bytes], member: str, limit: int) -> Iterator[bytes]:
        size = 0
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            self._unpacked += len(chunk)
            if size > limit:
                raise Unreadable(self.name, member, f"at most {limit:,} bytes")
            if self._unpacked > _LARGEST_SUM:
                raise Unreadable(self.name, None, f"at most {_LARGEST_SUM:,} bytes of libraries")
            yield chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The lines of METADATA that matter to a resolver."""

    name: str | None
    """As the package writes it."""
    requires: tuple[str, ...]
    """Every Requires-Dist line, extras and markers included."""
    requires_python: str | None


def read_metadata(text: str) -> Metadata:
    """Read METADATA; folded lines become one line."""
    message = HeaderParser().parsestr(text)
    lines = message.get_all("Requires-Dist") or []
    return Metadata(
        name=_line(message.get("Name")),
        requires=tuple(" ".join(str(line).split()) for line in lines),
        requires_python=_line(message.get("Requires-Python")),
    )


class Files(Protocol):
    """The files of a wheel by their paths in it, packed or installed."""

    @property
    def name(self) -> str:
        """What errors call the whole of it."""

    def names(self) -> tuple[str, ...]:
        """The paths of its files, each once."""

    def text(self, member: str) -> str:
        """A small file as text; Unreadable where it is not."""


def metadata_of(files: Files) -> str:
    """The METADATA of a wheel; raise Unreadable where it has none."""
    for name in files.names():
        if re.fullmatch(r"[^/]+\.dist-info/METADATA", name):
            return files.text(name)
    raise Unreadable(files.name, None, "a wheel with METADATA in it")


def _line(value: object) -> str | None:
    return " ".join(str(value).split()) or None if value else None


class _Guarded:
    """A file that refuses the one huge read that zipfile does: that of the directory."""

    def __init__(self, file: io.RawIOBase, name: str) -> None:
        self._file = file
        self._name = name
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > _LARGEST_DIRECTORY:
            raise Unreadable(self._name, None, f"a zip directory of {_LARGEST_DIRECTORY:,} bytes")
        return self._file.read(size) or b""


def _opened(path: Path) -> io.RawIOBase:
    try:
        return path.open("rb", buffering=0)
    except OSError as error:
        raise Unreadable(str(path), None, f"a readable file ({error.strerror})") from error
