"""What is recorded of one project of a package index: its files, and METADATA reduced.

Hashes, sizes, upload times, `requires-python` and yanked marks are the real ones. METADATA keeps
what a resolver reads; its own hash is that of the reduced text.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

FILES = "https://files.index.example/"
"""Stands for the address of the files, here and in fixtures."""
FOLDER = Path(__file__).parent / "recordings"
PYTORCH = Path(__file__).parent / "pytorch"
"""What stands for PyTorch's own indexes, a folder each; see derive.py."""

_KEPT = ("Metadata-Version", "Name", "Version", "Requires-Python", "Provides-Extra")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFile:
    """One wheel or sdist."""

    filename: str
    path: str
    """Below `FILES`."""
    sha256: str
    """Empty where the index does not say."""
    size: int
    """Bytes; 0 where the index does not say."""
    upload_time: str
    """ISO 8601; empty where the index does not say."""
    requires_python: str | None = None
    yanked: bool | str = False
    metadata: str | None = None
    """sha256 of its reduced METADATA."""


@dataclass(slots=True, kw_only=True)
class Recording:
    """One project."""

    name: str
    files: list[RecordedFile] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    """Reduced METADATA by its sha256: most wheels of a release share one."""
    note: str | None = None
    """Where it comes from, if it is not a recording of what an index serves."""

    @classmethod
    def load(cls, name: str, folder: Path = FOLDER) -> Recording | None:
        """Read a project's recording; None if there is none."""
        path = folder / f"{name}.json.gz"
        if not path.is_file():
            return None
        raw = json.loads(gzip.decompress(path.read_bytes()))
        files = []
        for row in raw["files"]:
            keys = ("filename", "path", "sha256", "size", "upload_time")
            rest = dict(zip(("requires_python", "yanked", "metadata"), row[5:], strict=False))
            files.append(RecordedFile(**dict(zip(keys, row, strict=False)), **rest))
        texts = {digest(text): text for text in raw["metadata"]}
        hashes = list(texts)
        named = [
            file if file.metadata is None else _with_hash(file, hashes[int(file.metadata)])
            for file in files
        ]
        return cls(name=name, files=named, metadata=texts, note=raw.get("note"))

    def save(self, folder: Path = FOLDER) -> int:
        """Write it, the same bytes for the same content; returns their number."""
        hashes = sorted(self.metadata, key=lambda value: self.metadata[value])
        rows: list[list[Any]] = []
        for file in sorted(self.files, key=lambda file: file.filename):
            number = None if file.metadata is None else hashes.index(file.metadata)
            row = [file.filename, file.path, file.sha256, file.size, file.upload_time]
            rows.append([*row, file.requires_python, file.yanked, number])
        texts = [self.metadata[value] for value in hashes]
        note = {"note": self.note} if self.note else {}
        document = json.dumps({**note, "files": rows, "metadata": texts}, separators=(",", ":"))
        data = gzip.compress(document.encode(), compresslevel=9, mtime=0)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.json.gz").write_bytes(data)
        return len(data)

    def page(self, files_url: str) -> dict[str, Any]:
        """The project's page as PEP 691 has it, files at `files_url`."""
        versions = sorted({version_of(file.filename) for file in self.files})
        return {
            "meta": {"api-version": "1.1"},
            "name": self.name,
            "versions": versions,
            "files": [_page_entry(file, files_url) for file in self.files],
        }


def reduced(metadata: str) -> str:
    """METADATA with nothing but what a resolver reads."""
    message = HeaderParser().parsestr(metadata)
    lines = [
        f"{key}: {' '.join(value.split())}"
        for wanted in (*_KEPT, "Requires-Dist")
        for key, value in message.items()
        if key == wanted
    ]
    return "\n".join(lines) + "\n"


def digest(text: str) -> str:
    """sha256, hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def version_of(filename: str) -> str:
    """The version in a wheel's or sdist's file name."""
    if filename.endswith(".whl"):
        return filename.split("-")[1]
    return filename.removesuffix(".tar.gz").removesuffix(".zip").rpartition("-")[2]


def _page_entry(file: RecordedFile, files_url: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "filename": file.filename,
        "url": files_url + file.path,
        "hashes": {"sha256": file.sha256} if file.sha256 else {},
        "yanked": file.yanked,
    }
    if file.size:
        entry["size"] = file.size
    if file.upload_time:
        entry["upload-time"] = file.upload_time
    if file.requires_python:
        entry["requires-python"] = file.requires_python
    if file.metadata:
        known: Mapping[str, str] = {"sha256": file.metadata}
        entry["core-metadata"] = entry["data-dist-info-metadata"] = known
    return entry


def _with_hash(file: RecordedFile, sha256: str) -> RecordedFile:
    values = {name: getattr(file, name) for name in RecordedFile.__slots__}
    return RecordedFile(**{**values, "metadata": sha256})
