"""What an index lists: the files of a package, from the simple API in JSON or HTML.

Format: PEP 503 (HTML), 691 (JSON), 658 and 714 (METADATA beside a file), 592 (yanked files) and 700
(sizes, days of upload).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urljoin

from stackfix_index.errors import Unreadable
from stackfix_index.names import normalized

if TYPE_CHECKING:
    from stackfix_index.client import Client

__all__ = ["LARGEST_METADATA", "Index", "IndexFile"]

LARGEST_METADATA = 8 << 20
"""Bytes of METADATA; real ones stay below 0.3 MB."""
_LARGEST_PAGE = 64 << 20
_ACCEPT = (
    "application/vnd.pypi.simple.v1+json, "
    "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
)
_LINK = re.compile(r"""<a\s((?:[^<>"']|"[^"<]*"|'[^'<]*')*)>""", re.IGNORECASE)
"""No alternative takes what another one does, and none a `<`: time grows with the page's size."""
_ATTRIBUTE = re.compile(r"""([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFile:
    """One file of a package."""

    filename: str
    url: str
    sha256: str | None
    size: int | None = None
    """Bytes; None where the index does not tell."""
    requires_python: str | None = None
    uploaded: str = ""
    """Day of the upload, ISO 8601; empty where the index does not tell."""
    yanked: bool
    has_metadata: bool
    """Whether METADATA can be had on its own, at the file's address with `.metadata` behind."""


class Index:
    """One package index."""

    def __init__(self, url: str, client: Client) -> None:
        self.url = url.rstrip("/")
        self.client = client

    def files(self, package: str) -> tuple[IndexFile, ...]:
        """All files of a package; Unreadable where the index has no such package."""
        address = f"{self.url}/{normalized(package)}/"
        page = self.client.get(address, what=package, limit=_LARGEST_PAGE, accept=_ACCEPT)
        if "json" not in page.kind:
            return tuple(_links(page.text, page.url))
        try:
            return tuple(_from_json(entry, page.url) for entry in json.loads(page.data)["files"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise Unreadable(package, "index page", "a simple API page in JSON") from error

    def metadata(self, file: IndexFile) -> str:
        """The METADATA of a wheel that the index serves on its own."""
        address = f"{file.url}.metadata"
        return self.client.get(address, what=file.filename, limit=LARGEST_METADATA).text


def _from_json(entry: Any, base: str) -> IndexFile:
    return IndexFile(
        filename=str(entry["filename"]),
        url=urljoin(base, str(entry["url"])),
        sha256=_text(entry.get("hashes", {}).get("sha256")),
        size=entry["size"] if type(entry.get("size")) is int else None,
        requires_python=_text(entry.get("requires-python")),
        uploaded=str(entry.get("upload-time") or "")[:10],
        yanked=bool(entry.get("yanked")),
        has_metadata=bool(entry.get("core-metadata") or entry.get("dist-info-metadata")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _links(page: str, base: str) -> Iterator[IndexFile]:
    for tag in _LINK.finditer(page):
        found = _attributes(tag[1])
        if not (link := found.get("href")):
            continue
        address, fragment = urldefrag(urljoin(base, link))
        kind, _, digest = fragment.partition("=")
        yield IndexFile(
            filename=unquote(address.rpartition("/")[2]),
            url=address,
            sha256=digest if kind == "sha256" else None,
            requires_python=found.get("data-requires-python"),
            yanked="data-yanked" in found,
            has_metadata="data-core-metadata" in found or "data-dist-info-metadata" in found,
        )


def _attributes(tag: str) -> Mapping[str, str]:
    return {
        name.lower(): unescape(double or single or bare).strip()
        for name, double, single, bare in _ATTRIBUTE.findall(tag)
    }
