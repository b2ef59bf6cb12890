"""A package index in memory, which answers as a real one does: JSON pages, byte ranges."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping

import httpx

from stackfix_index.client import Client

INDEX = "https://index.example/simple"
FILES = "https://files.index.example"


class Served:
    """Files by package; `client` talks to them, `requests` notes what was asked."""

    def __init__(
        self,
        files: Mapping[str, Mapping[str, bytes]],
        *,
        ranges: bool = True,
        metadata: Mapping[str, bytes] | None = None,
    ) -> None:
        self.files = files
        self.metadata = metadata or {}
        self.ranges = ranges
        self.requests: list[str] = []
        self.fetched = 0
        self.client = Client(transport=httpx.MockTransport(self._answer))

    def page(self, package: str) -> dict[str, object]:
        """The index page of a package."""
        return {
            "name": package,
            "files": [
                {
                    "filename": name,
                    "url": f"{FILES}/{name}",
                    "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
                    "upload-time": "2025-08-06T14:53:15.852225Z",
                    "yanked": False,
                    "core-metadata": name in self.metadata,
                }
                for name, data in self.files[package].items()
            ],
        }

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(f"{request.url.path} {request.headers.get('range', '')}".strip())
        if request.url.host == "index.example":
            package = request.url.path.split("/")[2]
            if package not in self.files:
                return httpx.Response(404)
            kind = {"content-type": "application/vnd.pypi.simple.v1+json"}
            return httpx.Response(200, headers=kind, content=json.dumps(self.page(package)))
        name = request.url.path.removeprefix("/")
        if name.endswith(".metadata"):
            return httpx.Response(200, content=self.metadata[name.removesuffix(".metadata")])
        data = next((f[name] for f in self.files.values() if name in f), None)
        if data is None:
            return httpx.Response(404)
        if not self.ranges:
            return httpx.Response(200, content=data)
        start, end = _range(request.headers["range"], len(data))
        self.fetched += end - start
        return httpx.Response(
            206,
            headers={"content-range": f"bytes {start}-{end - 1}/{len(data)}"},
            content=_pieces(data[start:end]),
        )


def _range(header: str, size: int) -> tuple[int, int]:
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", header)
    assert match
    if not match[1]:
        return max(0, size - int(match[2])), size
    return int(match[1]), min(size, int(match[2]) + 1)


def _pieces(data: bytes) -> Iterable[bytes]:
    return (data[start : start + 10_000] for start in range(0, len(data), 10_000))
