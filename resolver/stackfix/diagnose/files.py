"""Opening logs: plain, compressed, in UTF-16, from a folder or from standard input."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from stackfix.errors import StackfixError

__all__ = ["LogError", "LogFile", "find_logs", "open_log"]

_SKIPPED = frozenset(
    {
        *(".bin", ".ckpt", ".npy", ".npz", ".onnx", ".pickle", ".pkl", ".pt", ".pth"),
        *(".jpg", ".parquet", ".pdf", ".png", ".safetensors", ".tar", ".webp", ".zip"),
        *(".py", ".pyc", ".so", ".whl"),
    }
)
"""Never logs, and often large: left out of folders."""

_ROTATED = re.compile(r"(?P<base>.+?)\.(?P<number>\d{1,3})(?:\.(?:gz|zst|xz|bz2))?\Z")


class LogError(StackfixError):
    """A log that cannot be read. `str()` is the one line to show."""

    def __init__(self, path: Path | str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFile:
    """One log."""

    path: Path | None
    """None: standard input."""
    name: str
    """As the report calls it: relative to the folder that was named, else as it was given."""


def find_logs(paths: Iterable[str]) -> tuple[LogFile, ...]:
    """The logs behind what a person named: files, folders, "-". LogError if there are none."""
    logs: list[LogFile] = []
    for text in paths:
        if text == "-":
            logs.append(LogFile(path=None, name="<stdin>"))
            continue
        path = Path(text)
        if path.is_dir():
            logs.extend(_folder(path))
        elif path.exists():
            logs.append(LogFile(path=path, name=text))
        else:
            raise LogError(text, "expected a log file or a folder, there is nothing of that name")
    if not logs:
        raise LogError(", ".join(paths), "expected at least one log file in this folder")
    return tuple(logs)


def _folder(folder: Path) -> list[LogFile]:
    found = [
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix.lower() not in _SKIPPED
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and not _is_binary(path)
        and not _is_document(path)
    ]
    return [
        LogFile(path=path, name=str(path.relative_to(folder)))
        for path in sorted(found, key=_reading_order)
    ]


def _reading_order(path: Path) -> tuple[str, str, int]:
    """By name; of a rotated log the oldest part, which has the highest number, first."""
    rotated = _ROTATED.match(path.name)
    if rotated:
        return (str(path.parent), rotated["base"], -int(rotated["number"]))
    return (str(path.parent), path.name, 0)


def _is_binary(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(2048)
    except OSError:
        return False  # opening it for reading tells why
    if _opener(head) or head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    return head.count(0) > len(head) // 10


@contextmanager
def open_log(log: LogFile) -> Iterator[IO[bytes]]:
    """The log's bytes, uncompressed and in an ASCII-compatible encoding. LogError if unreadable."""
    if log.path is None:
        yield sys.stdin.buffer
        return
    try:
        raw = log.path.open("rb", buffering=0)
    except OSError as error:
        raise LogError(log.path, f"expected a readable file ({error.strerror})") from error
    with raw:
        head = raw.read(8) if raw.seekable() else b""
        if head:
            raw.seek(0)
        if opener := _opener(head):
            module = _module(opener, log.path)
            with module.open(raw, "rb") as stream:
                yield stream
        elif head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            yield cast(IO[bytes], _Transcoded(raw))
        else:
            yield raw


def _is_document(path: Path) -> bool:
    """A .json file that is one document over many lines, not a log with an object a line."""
    if path.suffix.lower() != ".json":
        return False
    try:
        with path.open("rb") as file:
            first = file.readline(64 << 10)
            more = file.readline(64)
    except OSError:
        return False
    return first.strip() in (b"{", b"[") or (first[:1] in (b"{", b"[") and not more)


def _opener(head: bytes) -> str | None:
    for magic, module in (
        (b"\x1f\x8b", "gzip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\xfd7zXZ\x00", "lzma"),
        (b"BZh", "bz2"),
    ):
        if head.startswith(magic):
            return module
    return None


def _module(name: str, path: Path) -> Any:
    if name != "zstd":
        return import_module(name)
    for module in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(module)
        except ImportError:
            continue
    raise LogError(path, "expected an uncompressed log: zstd needs the package backports.zstd")


class _Transcoded:
    """UTF-16, as shells on Windows write it, read as UTF-8."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")

    def read(self, size: int) -> bytes:
        data = self._raw.read(size)
        while data:
            if text := self._decoder.decode(data):
                return text.encode()
            data = self._raw.read(size)
        return b""
