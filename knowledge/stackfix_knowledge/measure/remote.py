"""A file on a web server, read piece by piece with range requests."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stackfix_knowledge.errors import MeasureError

if TYPE_CHECKING:
    import httpx

__all__ = ["RemoteFile"]

_TAIL = 256 * 1024
"""What one request fetches from the end: the directory of most wheels, and often METADATA."""

_SMALL = 4 * 1024 * 1024
"""A window up to this size is fetched at once and kept; a larger one is streamed."""

_CHUNK = 1024 * 1024


class RemoteFile(io.RawIOBase):
    """A seekable, read-only view of a remote file.

    Reads are cheap inside the window that :meth:`expect` announced and at the file's end; any
    other read costs a request. Raises MeasureError where the server does not answer ranges.
    """

    def __init__(self, client: httpx.Client, url: str, *, name: str) -> None:
        super().__init__()
        self._client = client
        self._url = url
        self._name = name
        self._position = 0
        self._stream: _Stream | None = None
        self.size, self._tail = self._fetch_tail()
        self._kept = (self.size - len(self._tail), self._tail)

    def expect(self, start: int, end: int) -> None:
        """Announce that the bytes from start to end will be read, in order."""
        self._close_stream()
        if start >= self.size - len(self._tail):
            return
        if end - start <= _SMALL:
            self._kept = (start, self._fetch(start, end))
        else:
            self._stream = _Stream(self._client, self._url, start, end, self._name)

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int = -1) -> bytes:
        end = self.size if size < 0 else min(self.size, self._position + size)
        start = self._position
        if end <= start:
            return b""
        data = self._find(start, end)
        self._position = start + len(data)
        return data

    def close(self) -> None:
        self._close_stream()
        super().close()

    def _find(self, start: int, end: int) -> bytes:
        for offset, data in (self._kept, (self.size - len(self._tail), self._tail)):
            if offset <= start and end <= offset + len(data):
                return data[start - offset : end - offset]
        if self._stream is not None and 0 <= start - self._stream.position <= _CHUNK:
            self._stream.read(start - self._stream.position)
            return self._stream.read(end - start)
        return self._fetch(start, end)

    def _fetch_tail(self) -> tuple[int, bytes]:
        response = self._get(f"bytes=-{_TAIL}")
        size = _total(response.headers.get("content-range", ""))
        if size is None or len(response.content) > min(size, _TAIL):
            raise self._no_ranges()
        return size, response.content

    def _fetch(self, start: int, end: int) -> bytes:
        data = self._get(f"bytes={start}-{end - 1}").content
        if len(data) != end - start:
            raise MeasureError(self._name, f"bytes {start} to {end}", "that many bytes")
        return data

    def _get(self, bytes_wanted: str) -> httpx.Response:
        with _Request(self._client, self._url, bytes_wanted, self._name) as response:
            if response.status_code != 206:
                raise self._no_ranges()
            response.read()
            return response

    def _no_ranges(self) -> MeasureError:
        return MeasureError(self._name, None, "an index that serves parts of a file")

    def _close_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


class _Stream:
    """One response, read in order."""

    def __init__(self, client: httpx.Client, url: str, start: int, end: int, name: str) -> None:
        self.position = start
        self._name = name
        self._context = _Request(client, url, f"bytes={start}-{end - 1}", name)
        self._response = self._context.__enter__()
        if self._response.status_code != 206:
            self.close()
            raise MeasureError(name, None, "an index that serves parts of a file")
        self._chunks: Iterator[bytes] = self._response.iter_raw(_CHUNK)
        self._left = b""

    def read(self, size: int) -> bytes:
        """Up to that many bytes; fewer only at the end."""
        import httpx

        parts, missing = [], size
        try:
            while missing:
                if not self._left:
                    self._left = next(self._chunks, b"")
                    if not self._left:
                        break
                part, self._left = self._left[:missing], self._left[missing:]
                parts.append(part)
                missing -= len(part)
        except httpx.HTTPError as error:
            raise MeasureError(
                self._name, f"byte {self.position}", f"a transfer without fault ({error})"
            ) from error
        data = b"".join(parts)
        self.position += len(data)
        return data

    def close(self) -> None:
        self._context.__exit__(None, None, None)


class _Request:
    """A request for a range, as a context; leaving it closes the response."""

    def __init__(self, client: httpx.Client, url: str, bytes_wanted: str, name: str) -> None:
        headers = {"Range": bytes_wanted, "Accept-Encoding": "identity"}
        self._client, self._name = client, name
        self._request = client.build_request("GET", url, headers=headers)

    def __enter__(self) -> httpx.Response:
        import httpx

        try:
            self._response = self._client.send(self._request, stream=True)
        except httpx.HTTPError as error:
            raise MeasureError(self._name, None, f"an index that answers ({error})") from error
        if self._response.is_error:
            status = self._response.status_code
            self._response.close()
            raise MeasureError(self._name, None, f"an index that has the file (HTTP {status})")
        return self._response

    def __exit__(self, *_: object) -> None:
        self._response.close()


def _total(content_range: str) -> int | None:
    """The size of the whole file, from a header such as ``bytes 0-9/100``."""
    total = content_range.rpartition("/")[2]
    return int(total) if total.isascii() and total.isdigit() and len(total) < 16 else None
