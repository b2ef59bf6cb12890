"""METADATA of a wheel at a URL, over HTTP, in bounded time and memory."""

from __future__ import annotations

import netrc
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable
from types import TracebackType
from typing import Self
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from stackfix_lockfiles.metadata.zipped import MAX_METADATA, TAIL, BadZip, metadata_of
from stackfix_lockfiles.sources import DeclaredIndex

__all__ = ["Reader"]

_TIMEOUT = httpx.Timeout(15.0, connect=8.0)
_WHOLE = 16 << 20
"""Bytes up to which a wheel is read whole from a server that knows no ranges."""
_PATIENCE = 3
"""Files without METADATA beside them, and none with, after which a host is not asked again."""
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class Reader:
    """Reads METADATA; may be used from several threads. A context manager.

    Credentials come from the URL, from uv's variables for the named `indexes` or from netrc; no
    message or return value has them.
    """

    def __init__(
        self, *, deadline: float | None = None, indexes: Iterable[DeclaredIndex] = ()
    ) -> None:
        self._client = httpx.Client(
            timeout=_TIMEOUT,
            follow_redirects=True,
            max_redirects=5,
            limits=httpx.Limits(max_connections=24),
        )
        self._credentials = {**_from_netrc(), **_from_environment(indexes)}
        self._deadline = deadline
        self._beside: Counter[tuple[str, bool]] = Counter()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def metadata(self, url: str) -> str | None:
        """The METADATA of the wheel at `url`; None where it cannot be read."""
        try:
            url = urlunsplit(urlsplit(url)._replace(fragment=""))
            data = self._from_beside(url)
            if data is None:
                data = self._from_within(url)
            return None if data is None else data.decode("utf-8", "replace")
        except (httpx.HTTPError, httpx.InvalidURL, BadZip, ValueError):
            return None

    def _from_beside(self, url: str) -> bytes | None:
        host = urlsplit(url).netloc.rpartition("@")[2]
        with self._lock:
            if self._beside[host, False] >= _PATIENCE and not self._beside[host, True]:
                return None
        status, _, data = self._get(f"{url}.metadata", {}, MAX_METADATA)
        found = status == 200 and data.lstrip().lower().startswith(b"metadata-version:")
        with self._lock:
            self._beside[host, found] += 1
        return data if found else None

    def _from_within(self, url: str) -> bytes | None:
        status, headers, tail = self._get(url, {"Range": f"bytes=-{TAIL}"}, _WHOLE)
        if status == 200:
            return metadata_of(tail, len(tail), lambda start, end: tail[start:end])
        if status in (416, 501):  # a suffix is not everybody's: ask for the size first
            size = int(
                self._client.head(url, auth=self._auth(url)).headers.get("Content-Length", "0")
            )
            start = max(size - TAIL, 0)
            status, headers, tail = self._get(url, {"Range": f"bytes={start}-{size - 1}"}, TAIL)
        span = _RANGE.fullmatch(headers.get("Content-Range", ""))
        if status != 206 or span is None:
            return None
        return metadata_of(tail, int(span[3]), lambda start, end: self._range(url, start, end))

    def _range(self, url: str, start: int, end: int) -> bytes:
        wanted = {"Range": f"bytes={start}-{end - 1}"}
        status, _, data = self._get(url, wanted, end - start)
        if status != 206:
            raise BadZip("the server stopped giving ranges")
        return data

    def _auth(self, url: str) -> httpx.Auth:
        parts = urlsplit(url)
        if parts.username is not None:
            return httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))
        return self._credentials.get(parts.hostname or "", httpx.Auth())

    def _get(
        self, url: str, headers: dict[str, str], limit: int
    ) -> tuple[int, httpx.Headers, bytes]:
        """Status, headers and body; a body longer than `limit` bytes is an error, and not read."""
        headers = {"Accept-Encoding": "identity", **headers}
        auth = self._auth(url)
        with self._client.stream("GET", url, headers=headers, auth=auth) as answer:
            if answer.status_code not in (200, 206):
                return answer.status_code, answer.headers, b""
            if int(answer.headers.get("Content-Length", "0")) > limit:
                raise BadZip("too large")
            data = bytearray()
            for chunk in answer.iter_bytes():
                data += chunk
                if len(data) > limit:
                    raise BadZip("too large")
                if self._deadline is not None and time.monotonic() > self._deadline:
                    raise BadZip("too late")
            return answer.status_code, answer.headers, bytes(data)


def _from_environment(indexes: Iterable[DeclaredIndex]) -> dict[str, httpx.Auth]:
    """By host, what `UV_INDEX_<NAME>_USERNAME` and `UV_INDEX_<NAME>_PASSWORD` hold for an index."""
    found: dict[str, httpx.Auth] = {}
    for index in indexes:
        name = re.sub(r"[^A-Z0-9]", "_", (index.name or "").upper())
        host = urlsplit(index.url).hostname
        user = os.environ.get(f"UV_INDEX_{name}_USERNAME")
        password = os.environ.get(f"UV_INDEX_{name}_PASSWORD")
        if name and host and (user or password):
            found[host] = httpx.BasicAuth(user or "", password or "")
    return found


def _from_netrc() -> dict[str, httpx.BasicAuth]:
    """Credentials by host. A netrc's `default` is left out: a lock may name any host."""
    path = os.environ.get("NETRC") or os.path.expanduser("~/.netrc")
    try:
        entries = netrc.netrc(path).hosts
    except (OSError, ValueError, netrc.NetrcParseError):
        return {}
    return {
        host: httpx.BasicAuth(login, password or "")
        for host, (login, _, password) in entries.items()
        if host != "default"
    }
