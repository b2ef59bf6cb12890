"""A file on a web server, read piece by piece with range requests."""

from __future__ import annotations

import io
import re
from contextlib import ExitStack
from typing import TYPE_CHECKING

from stackfix_index.errors import Refused, Unreadable

if TYPE_CHECKING:
    from stackfix_index.client import Client, Response

__all__ = ["RemoteFile"]

_TAIL = 256 * 1024
"""What one request fetches from the end: the directory of most wheels, and often METADATA."""

_SMALL = 4 * 1024 * 1024
"""A window up to this size is fetched at once and kept; a larger one is streamed."""

_CHUNK = 1024 * 1024
_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")


class RemoteFile(io.RawIOBase):
    """A seekable, read-only view of a remote file.

    Reads are cheap inside the window that `expect` announced and at the file's end; any other read
    costs a request. Raises Unreadable where the server does not answer ranges.
    """

    def __init__(
        self, client: Client, url: str, *, name: str, tail: int = _TAIL, whole: int = 0
    ) -> None:
        """Fetch the last `tail` bytes; `name` is what errors call the file.

        From a server that knows no ranges the file is read whole, up to `whole` bytes.
        """
        super().__init__()
        self._client = client
        self._url = url
        self._name = name
        self._position = 0
        self._stream: _Stream | None = None
        self.size, self._tail = self._fetch_tail(tail, whole)
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

    def _fetch_tail(self, tail: int, whole: int) -> tuple[int, bytes]:
        """The file's size and its last bytes."""
        headers = _asking(f"-{tail}")
        with self._client.open(self._url, what=self._name, headers=headers) as answer:
            if answer.status == 200 and 0 < (answer.length or 1) <= whole:
                data = answer.read(whole)
                return len(data), data
            if answer.status not in (416, 501):
                return self._ranged(answer, tail)
        # Not everybody knows ranges that count from the end: ask for the size first.
        size = self._client.size(self._url, what=self._name)
        headers = _asking(f"{max(size - tail, 0)}-{size - 1}")
        with self._client.open(self._url, what=self._name, headers=headers) as answer:
            return self._ranged(answer, tail)

    def _ranged(self, answer: Response, tail: int) -> tuple[int, bytes]:
        self._require_part(answer)
        span = _RANGE.fullmatch(answer.header("Content-Range"))
        if span is None:
            raise self._no_ranges()
        size = int(span[3])
        if int(span[2]) + 1 != size:
            raise self._no_ranges()
        data = answer.read(min(tail, size))
        if len(data) != size - int(span[1]):
            raise self._no_ranges()
        return size, data

    def _fetch(self, start: int, end: int) -> bytes:
        headers = _asking(f"{start}-{end - 1}")
        with self._client.open(self._url, what=self._name, headers=headers) as answer:
            self._require_part(answer)
            data = answer.read(end - start)
        if len(data) != end - start:
            raise Unreadable(self._name, f"bytes {start} to {end}", "that many bytes")
        return data

    def _require_part(self, answer: Response) -> None:
        if answer.status == 206:
            return
        if answer.status >= 400:
            expected = f"an index that has the file (HTTP {answer.status})"
            raise Refused(self._name, None, expected)
        raise self._no_ranges()

    def _no_ranges(self) -> Unreadable:
        return Refused(self._name, None, "an index that serves parts of a file")

    def _close_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None


class _Stream:
    """One answer, read in order."""

    def __init__(self, client: Client, url: str, start: int, end: int, name: str) -> None:
        self.position = start
        self._name = name
        self._open = ExitStack()
        headers = _asking(f"{start}-{end - 1}")
        answer = self._open.enter_context(client.open(url, what=name, headers=headers))
        if answer.status != 206:
            self.close()
            raise Refused(name, None, "an index that serves parts of a file")
        self._chunks = answer.chunks(_CHUNK)
        self._left = b""

    def read(self, size: int) -> bytes:
        """Up to that many bytes; fewer only at the end."""
        parts, missing = [], size
        while missing:
            if not self._left:
                self._left = next(self._chunks, b"")
                if not self._left:
                    break
            part, self._left = self._left[:missing], self._left[missing:]
            parts.append(part)
            missing -= len(part)
        data = b"".join(parts)
        self.position += len(data)
        return data

    def close(self) -> None:
        self._open.close()


def _asking(wanted: str) -> dict[str, str]:
    return {"Range": f"bytes={wanted}", "Accept-Encoding": "identity"}
