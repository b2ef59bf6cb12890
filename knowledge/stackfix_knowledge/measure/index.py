"""A package index: which files a package has. Reads the simple API as JSON or HTML."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urldefrag, urljoin

from packaging.utils import canonicalize_name

from stackfix_index.configured import default_index
from stackfix_knowledge.errors import MeasureError

if TYPE_CHECKING:
    import httpx

__all__ = ["Index", "IndexFile", "configured_index"]

_LARGEST_PAGE = 64 * 1024 * 1024
_ACCEPT = (
    "application/vnd.pypi.simple.v1+json, "
    "application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
)


class IndexFile(NamedTuple):
    """One file of a package."""

    filename: str
    url: str
    sha256: str | None
    uploaded: str
    """Day of the upload, ISO 8601; empty where the index does not tell."""
    yanked: bool
    has_metadata: bool
    """Whether METADATA can be had on its own, at the file's address with ``.metadata`` behind."""


class Index:
    """One package index, over one HTTP client."""

    def __init__(self, url: str, client: httpx.Client) -> None:
        self.url = url.rstrip("/")
        self.client = client

    def files(self, package: str) -> tuple[IndexFile, ...]:
        """All files of a package; raise MeasureError where the index has no such package."""
        address = f"{self.url}/{canonicalize_name(package)}/"
        response = self._get(address, package)
        if "json" in response.headers.get("content-type", ""):
            try:
                listed = response.json()["files"]
                return tuple(_from_json(entry, str(response.url)) for entry in listed)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise MeasureError(package, "index page", "a simple API page in JSON") from error
        page = _Page(str(response.url))
        page.feed(response.text)
        return tuple(page.files)

    def metadata(self, file: IndexFile) -> str:
        """The METADATA of a wheel that the index serves on its own."""
        return self._get(f"{file.url}.metadata", file.filename).text

    def _get(self, address: str, what: str) -> httpx.Response:
        import httpx

        try:
            with self.client.stream("GET", address, headers={"Accept": _ACCEPT}) as response:
                if response.is_error:
                    status = response.status_code
                    raise MeasureError(what, None, f"an index that has it (HTTP {status})")
                body = bytearray()
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > _LARGEST_PAGE:
                        raise MeasureError(what, "index page", f"at most {_LARGEST_PAGE:,} bytes")
                kept = {"content-type": response.headers.get("content-type", "")}
                return httpx.Response(
                    200, headers=kept, content=bytes(body), request=response.request
                )
        except httpx.HTTPError as error:
            raise MeasureError(what, None, f"an index that answers ({error})") from error


def configured_index() -> str:
    """The address of the index that uv or pip would ask; MeasureError where none is known."""
    try:
        return default_index()
    except LookupError:
        expected = "the address of a package index, in UV_DEFAULT_INDEX"
        raise MeasureError("index", None, expected) from None


def _from_json(entry: Any, base: str) -> IndexFile:
    return IndexFile(
        filename=str(entry["filename"]),
        url=urljoin(base, str(entry["url"])),
        sha256=entry.get("hashes", {}).get("sha256"),
        uploaded=str(entry.get("upload-time") or "")[:10],
        yanked=bool(entry.get("yanked")),
        has_metadata=bool(entry.get("core-metadata") or entry.get("dist-info-metadata")),
    )


class _Page(HTMLParser):
    """The links of a simple API page in HTML."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base
        self.files: list[IndexFile] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        href = found.get("href")
        if tag != "a" or not href:
            return
        address, fragment = urldefrag(urljoin(self._base, href))
        kind, _, digest = fragment.partition("=")
        metadata = found.get("data-core-metadata", found.get("data-dist-info-metadata"))
        self.files.append(
            IndexFile(
                filename=address.rpartition("/")[2].replace("%2B", "+"),
                url=address,
                sha256=digest if kind == "sha256" else None,
                uploaded="",
                yanked="data-yanked" in found,
                has_metadata=metadata is not None,
            )
        )
