"""The HTTP client for package indexes: bounded in time and size, with the user's credentials."""

from __future__ import annotations

import contextlib
import netrc
import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx

from stackfix_index.configured import INDEX_VARIABLES, NamedIndex, entries
from stackfix_index.errors import Refused, Unreadable

__all__ = ["Client", "Page", "Response"]

_CONNECT = 20.0
"""Seconds to wait for a connection, at most."""
_REDIRECTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A document that was read whole."""

    url: str
    """Where it came from, after redirects."""
    kind: str
    """Its content type."""
    data: bytes

    @property
    def text(self) -> str:
        """It as text; bytes that are no UTF-8 become replacement characters."""
        return self.data.decode("utf-8", "replace")


class Client:
    """An HTTP client; may be used from several threads. A context manager.

    Credentials come from the URL, from that of an index on the same server, from uv's variables for
    the named index, or from netrc. No message has them.
    """

    def __init__(
        self,
        *,
        patience: float = 180.0,
        deadline: float | None = None,
        indexes: Iterable[NamedIndex] = (),
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Wait `patience` seconds for each part of an answer, and for none past the `deadline`.

        The deadline is a time of `time.monotonic`. `indexes` are those of a project, besides the
        user's own.
        """
        self._client = httpx.Client(
            timeout=httpx.Timeout(patience, connect=min(patience, _CONNECT)),
            follow_redirects=True,
            max_redirects=_REDIRECTS,
            limits=httpx.Limits(max_connections=24),
            transport=transport,
        )
        self._deadline = deadline
        self._of_hosts = _from_netrc()
        self._of_servers = _from_indexes((*indexes, *_from_variables()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def get(self, url: str, *, what: str, limit: int, accept: str = "*/*") -> Page:
        """What is at `url`, at most `limit` bytes.

        Raises:
            Refused: the server has none.
            Unreadable: it does not answer, too late, or with more.
        """
        with self.open(url, what=what, headers={"Accept": accept}) as answer:
            if answer.status != 200:
                raise Refused(what, None, f"an index that has it (HTTP {answer.status})")
            kind = answer.header("Content-Type")
            return Page(url=answer.url, kind=kind, data=answer.read(limit))

    def size(self, url: str, *, what: str) -> int:
        """The size of a file in bytes, as its server states it without sending it."""
        with self.open(url, what=what, method="HEAD") as answer:
            return answer.length or 0

    @contextlib.contextmanager
    def open(
        self, url: str, *, what: str, headers: dict[str, str] | None = None, method: str = "GET"
    ) -> Iterator[Response]:
        """Ask for `url`; the answer is closed with the context. Errors call the file `what`."""
        with _told_as(what):
            url = urlunsplit(urlsplit(url)._replace(fragment=""))
            request = self._client.build_request(method, url, headers=headers)
            response = self._client.send(request, auth=self._auth(url), stream=True)
        try:
            yield Response(response, what, self._deadline)
        finally:
            response.close()

    def _auth(self, url: str) -> httpx.Auth:
        parts = urlsplit(url)
        if (own := _userinfo(url)) is not None:
            return own
        found = self._of_servers.get(_server(url)) or self._of_hosts.get(parts.hostname or "")
        return found or httpx.Auth()


class Response:
    """An answer whose body has not been read yet."""

    def __init__(self, response: httpx.Response, what: str, deadline: float | None) -> None:
        self._response = response
        self._what = what
        self._deadline = deadline
        self.status = response.status_code
        self.url = str(response.url)
        """Where it came from, after redirects."""

    def header(self, name: str) -> str:
        """The value of a header, an empty text without it."""
        return str(self._response.headers.get(name, ""))

    @property
    def length(self) -> int | None:
        """How many bytes the server says it sends."""
        text = self.header("Content-Length")
        return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None

    def chunks(self, size: int | None = None) -> Iterator[bytes]:
        """The body as sent, in parts of that size."""
        return self._timely(self._response.iter_raw(size))

    def read(self, limit: int) -> bytes:
        """The whole body, unpacked where it was sent packed; Unreadable if it has more bytes."""
        too_large = Unreadable(self._what, None, f"at most {limit:,} bytes")
        if (self.length or 0) > limit:
            raise too_large
        data = bytearray()
        for chunk in self._timely(self._response.iter_bytes()):
            data += chunk
            if len(data) > limit:
                raise too_large
        return bytes(data)

    def _timely(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        with _told_as(self._what):
            for chunk in chunks:
                yield chunk
                if self._deadline is not None and time.monotonic() > self._deadline:
                    raise Unreadable(self._what, None, "an index that answers in time")


@contextlib.contextmanager
def _told_as(what: str) -> Iterator[None]:
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError) as error:
        raise Unreadable(what, None, f"an index that answers ({error})") from error


def _server(url: str) -> tuple[str, str, int | None]:
    """What credentials hold for: a scheme, a host and a port."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port


def _userinfo(url: str) -> httpx.BasicAuth | None:
    parts = urlsplit(url)
    if parts.username is None:
        return None
    return httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))


def _from_variables() -> Iterator[NamedIndex]:
    for variable in INDEX_VARIABLES:
        yield from entries(variable, os.environ.get(variable, ""))


def _from_indexes(
    indexes: Iterable[NamedIndex],
) -> dict[tuple[str, str, int | None], httpx.BasicAuth]:
    """By server: `UV_INDEX_<NAME>_USERNAME` and `…_PASSWORD`, else what the address holds."""
    found: dict[tuple[str, str, int | None], httpx.BasicAuth] = {}
    for index in indexes:
        name = re.sub(r"[^A-Z0-9]", "_", (index.name or "").upper())
        user = os.environ.get(f"UV_INDEX_{name}_USERNAME")
        password = os.environ.get(f"UV_INDEX_{name}_PASSWORD")
        with contextlib.suppress(ValueError):  # no address
            if name and (user or password):
                found[_server(index.url)] = httpx.BasicAuth(user or "", password or "")
            elif (own := _userinfo(index.url)) is not None:
                found.setdefault(_server(index.url), own)
    return found


def _from_netrc() -> dict[str, httpx.BasicAuth]:
    """Credentials by host. A netrc's `default` is left out: a lock may name any host."""
    path = os.environ.get("NETRC") or os.path.expanduser("~/.netrc")
    try:
        hosts = netrc.netrc(path).hosts
    except (OSError, ValueError, netrc.NetrcParseError):
        return {}
    return {
        host: httpx.BasicAuth(login, password or "")
        for host, (login, _, password) in hosts.items()
        if host != "default"
    }
