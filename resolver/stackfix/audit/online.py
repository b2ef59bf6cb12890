"""Files that the index does not know under the hash that the lock has for them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from urllib.parse import unquote, urljoin

import httpx

from stackfix.model.finding import Finding, Severity
from stackfix_lockfiles.lock import Lock, LockedPackage
from stackfix_lockfiles.metadata.remote import Reader
from stackfix_lockfiles.metadata.zipped import BadZip

__all__ = ["unknown_hashes"]

_ACCEPT = {"Accept": "application/vnd.pypi.simple.v1+json, text/html;q=0.1"}
_MOST = 64 << 20
_AT_ONCE = 12
_DEADLINE = 60.0
_LINK = re.compile(r"""<a\s[^>]*href=(["'])(.*?)\1""", re.IGNORECASE | re.DOTALL)


def unknown_hashes(lock: Lock) -> Iterator[Finding]:
    """A finding for every package with a file whose hash the index does not confirm.

    A page that cannot be read says nothing, and neither does a file that the index gives no
    sha256 for. A file that is gone from the page is a warning: indexes let files go.
    """
    asked = [package for package in lock.packages if _address(package) and package.version]
    pages: dict[str, Mapping[str, str | None] | None] = {}
    with _Pages(deadline=time.monotonic() + _DEADLINE) as reader:
        addresses = sorted({address for package in asked if (address := _address(package))})
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            pages = dict(zip(addresses, pool.map(reader.files, addresses), strict=True))
    for package in asked:
        known = pages.get(_address(package) or "")
        if known is not None:
            yield from _compared(package, known)


def _compared(package: LockedPackage, known: Mapping[str, str | None]) -> Iterator[Finding]:
    gone, wrong = [], []
    for file in (*package.wheels, *([package.sdist] if package.sdist else [])):
        if file.filename not in known:
            gone.append(file.filename)
        elif _differs(file.hash, known[file.filename]):
            wrong.append(file.filename)
    title = f"{package.name} {package.version}"
    for files, severity, said in (
        (wrong, Severity.ERROR, "the index has another hash than the lock for"),
        (gone, Severity.WARNING, "the index does not list"),
    ):
        if files:
            more = f" and {len(files) - 1} more" if len(files) > 1 else ""
            yield Finding(
                code="SF502",
                severity=severity,
                package=package.name,
                version=package.version or "",
                message=f"{title}: {said} {files[0]}{more}",
                fix=f"uv lock --refresh-package {package.name}",
            )


def _differs(locked: str | None, sha256: str | None) -> bool:
    if not sha256 or not locked or not locked.startswith("sha256:"):
        return False
    return locked.lower() != f"sha256:{sha256.lower()}"


def _address(package: LockedPackage) -> str | None:
    index = package.source.index
    if index is None or not index.startswith(("https://", "http://")):
        return None
    return f"{index}/{package.name}/"


class _Pages(Reader):
    """Reads the pages of a simple index (PEP 503 and 691)."""

    def files(self, address: str) -> Mapping[str, str | None] | None:
        """The sha256 of each file of a page, None where it gives none; None: no page."""
        try:
            status, headers, data = self._get(address, _ACCEPT, _MOST)
            if status != 200:
                return None
            if "json" in headers.get("Content-Type", ""):
                return _of_json(json.loads(data))
            return _of_html(data.decode("utf-8", "replace"), address)
        except (httpx.HTTPError, httpx.InvalidURL, BadZip, ValueError, RecursionError):
            return None


def _of_json(page: object) -> Mapping[str, str | None]:
    found: dict[str, str | None] = {}
    files = page.get("files") if isinstance(page, dict) else None
    for file in files if isinstance(files, list) else []:
        if isinstance(file, dict) and isinstance(file.get("filename"), str):
            hashes = file.get("hashes")
            sha256 = hashes.get("sha256") if isinstance(hashes, dict) else None
            found[file["filename"]] = sha256 if isinstance(sha256, str) else None
    return found


def _of_html(text: str, address: str) -> Mapping[str, str | None]:
    found: dict[str, str | None] = {}
    for _, link in _LINK.findall(text):
        path, _, fragment = urljoin(address, unescape(link)).partition("#")
        name = unquote(path.rpartition("/")[2])
        sha256 = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else None
        found[name] = sha256
    return found
