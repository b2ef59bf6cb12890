"""Serve the recordings as a package index on 127.0.0.1, and wheels that a test adds."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from tests.registry.recording import (
    FILES,
    FOLDER,
    PYTORCH,
    RecordedFile,
    Recording,
    digest,
    reduced,
)

SIMPLE = "https://index.example/simple"
"""Stands for the address of the index in fixtures."""
WHL = "https://download.pytorch.org/whl/"
"""Where PyTorch's own indexes are; `restore` puts the local ones in their place."""

_JSON = "application/vnd.pypi.simple.v1+json"
_WHEEL = re.compile(rb"https://download(?:-r2)?\.pytorch\.org/whl/([^/\"]+/[^/\"]+\.whl)")
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class Index:
    """A running index; a context manager that stops it."""

    def __init__(self, folder: Path = FOLDER, *, lasting: bool = False) -> None:
        self._folder = folder
        self.lasting = lasting
        """Whether pages stay as they are, so that nobody need ask twice: the public indexes let
        theirs be kept for ten minutes."""
        self._known: dict[str, Recording | None] = {}
        self._bytes: dict[str, bytes] = {}
        self._metadata: dict[str, str] = {}
        self._lock = threading.Lock()
        self.asked: Counter[str] = Counter()
        """Paths that were asked for, and how often."""
        self.authorized: dict[str, str] = {}
        """The last `Authorization` header that came with each path."""
        self.plain: set[str] = set()
        """Projects whose page says nothing of separate METADATA, as older indexes do."""
        self.html_only = False
        """Whether pages are HTML whatever was asked for."""
        self.login: tuple[str, str] | None = None
        """User and password without which nothing is answered."""
        self.refuses: int | None = None
        """A status that answers every question."""
        self.held: threading.Event | None = None
        """Files are not answered before it is set, a minute at most: a slow network."""
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.index = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def address(self) -> str:
        """`http://127.0.0.1:<port>`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """What uv takes as its default index."""
        return f"{self.address}/simple"

    @property
    def whl(self) -> str:
        """Where PyTorch's indexes are served, as derived from locks, with a slash at the end."""
        return f"{self.address}/whl/"

    @property
    def files_url(self) -> str:
        """Where the files are, with a slash at the end."""
        return f"{self.address}/files/"

    def restore(self, project: Path) -> Path:
        """Put this index's address in place of the placeholders in a project's files."""
        for path in (*project.rglob("*.toml"), *project.rglob("uv.lock")):
            path.write_bytes(self.restored(path.read_bytes()))
        return project

    def restored(self, data: bytes) -> bytes:
        """`data` with the address of this index in place of the placeholders."""
        data = data.replace(SIMPLE.encode(), self.url.encode())
        data = _WHEEL.sub(self.files_url.encode() + rb"whl/\1", data)
        data = data.replace(WHL.encode(), self.whl.encode())
        return data.replace(FILES.encode(), self.files_url.encode())

    def placeheld(self, data: bytes) -> bytes:
        """`data` with placeholders in place of the address: to compare with a fixture."""
        data = data.replace(self.url.encode(), SIMPLE.encode())
        data = data.replace(self.files_url.encode() + b"whl/", WHL.encode())
        data = data.replace(self.whl.encode(), WHL.encode())
        return data.replace(self.files_url.encode(), FILES.encode())

    def add(
        self,
        filename: str,
        data: bytes,
        *,
        metadata: str | None = None,
        upload_time: str = "2025-01-01T00:00:00Z",
    ) -> str:
        """Serve a wheel or sdist with these bytes; returns its URL.

        With `metadata`, it is also served beside the file, as PEP 658 has it.
        """
        name = re.sub(r"[-_.]+", "-", filename.split("-")[0]).lower()
        path = f"added/{filename}"
        recording = self.project(name) or Recording(name=name)
        text = None if metadata is None else reduced(metadata)
        recording.files.append(
            RecordedFile(
                filename=filename,
                path=path,
                sha256=hashlib.sha256(data).hexdigest(),
                size=len(data),
                upload_time=upload_time,
                metadata=None if text is None else digest(text),
            )
        )
        if text is not None:
            recording.metadata[digest(text)] = text
            self._metadata[path] = text
        self._known[name] = recording
        self._bytes[path] = data
        return self.files_url + path

    def record(self, recording: Recording) -> None:
        """Serve a project as this recording has it."""
        self._known[recording.name] = recording
        for file in recording.files:
            if file.metadata:
                self._metadata[file.path] = recording.metadata[file.metadata]

    def known(self) -> list[Recording]:
        """The projects that were recorded here or asked for: what a flat index lists."""
        return [recording for recording in self._known.values() if recording is not None]

    def add_build(self, home: str, filename: str, data: bytes, metadata: str) -> None:
        """Serve a wheel on PyTorch's index of that name, with METADATA beside it."""
        name = re.sub(r"[-_.]+", "-", filename.split("-")[0]).lower()
        path, text = f"whl/{home}/{filename}", reduced(metadata)
        recording = self.pytorch(home, name)
        if recording is None:
            recording = self._known[f"{home}/{name}"] = Recording(name=name)
        recording.files.append(
            RecordedFile(
                filename=filename,
                path=path,
                sha256=hashlib.sha256(data).hexdigest(),
                size=len(data),
                upload_time="2025-01-01T00:00:00Z",
                metadata=digest(text),
            )
        )
        recording.metadata[digest(text)] = text
        self._metadata[path] = text

    def remove(self, filename: str) -> None:
        """No longer serve an added file, nor name it."""
        name = re.sub(r"[-_.]+", "-", filename.split("-")[0]).lower()
        path = f"added/{filename}"
        del self._bytes[path]
        self._metadata.pop(path, None)
        if (recording := self.project(name)) is not None:
            recording.files = [file for file in recording.files if file.path != path]

    def project(self, name: str) -> Recording | None:
        """The recording of a project, read when first asked for."""
        return self._loaded(name, name, self._folder)

    def pytorch(self, index: str, name: str) -> Recording | None:
        """What PyTorch's index of that name ("cu128") has of a project."""
        if not re.fullmatch(r"[a-z0-9.]+", index):
            return None
        return self._loaded(f"{index}/{name}", name, PYTORCH / index)

    def _loaded(self, key: str, name: str, folder: Path) -> Recording | None:
        with self._lock:
            if key not in self._known:
                found = self._known[key] = Recording.load(name, folder)
                for file in found.files if found else ():
                    if found and file.metadata:
                        self._metadata[file.path] = found.metadata[file.metadata]
            return self._known[key]

    def metadata(self, path: str) -> str | None:
        """The METADATA served beside the file at `path`, whose project's page need not be asked."""
        if path not in self._metadata:
            folder, _, file = unquote(path).rpartition("/")
            name = re.sub(r"[-_.]+", "-", file.split("-")[0]).lower()
            self.project(name)
            if folder.startswith(("whl/", "made-up/")):
                self.pytorch(folder.partition("/")[2], name)
        return self._metadata.get(path)

    def file(self, path: str) -> bytes | None:
        """The bytes of an added file; recorded ones have none."""
        return self._bytes.get(path)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    index: Index

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up (uv does when it has what it wants) is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        assert isinstance(self.server, _Server)
        index = self.server.index
        path = urlsplit(self.path).path
        index.asked[path] += 1
        if (header := self.headers.get("Authorization")) is not None:
            index.authorized[path] = header
        if index.refuses is not None:
            self._send(b"no", "text/plain", status=HTTPStatus(index.refuses))
        elif index.login is not None and header != _basic(*index.login):
            asks = {"WWW-Authenticate": 'Basic realm="index"'}
            self._send(b"who are you?", "text/plain", asks, HTTPStatus.UNAUTHORIZED)
        elif path.rstrip("/") == "/simple":
            pages = [recording.page(index.files_url) for recording in index.known()]
            self._send("\n".join(map(_html, pages)).encode(), "text/html; charset=utf-8")
        elif path.startswith("/simple/"):
            name = path.removeprefix("/simple/").strip("/")
            self._page(index, name, index.project(name))
        elif path.startswith("/whl/"):
            home, _, name = path.removeprefix("/whl/").strip("/").partition("/")
            self._page(index, name, index.pytorch(home, name))
        elif path.startswith("/files/") and path.endswith(".metadata"):
            text = index.metadata(unquote(path.removeprefix("/files/").removesuffix(".metadata")))
            self._send(None if text is None else text.encode(), "text/plain; charset=utf-8")
        elif path.startswith("/files/"):
            if index.held is not None:
                index.held.wait(60)
            self._file(index.file(unquote(path.removeprefix("/files/"))))
        else:
            self._send(None, "text/plain")

    def _page(self, index: Index, name: str, recording: Recording | None) -> None:
        if recording is None:
            self._send(None, "text/plain")
            return
        page = recording.page(index.files_url)
        keep = {"Cache-Control": "max-age=600"} if index.lasting else {}
        if name in index.plain:
            for entry in page["files"]:
                entry.pop("core-metadata", None)
                entry.pop("data-dist-info-metadata", None)
        if _JSON in self.headers.get("Accept", "") and not index.html_only:
            self._send(json.dumps(page).encode(), _JSON, keep)
        else:
            self._send(_html(page).encode(), "text/html; charset=utf-8", keep)

    def _file(self, data: bytes | None) -> None:
        wanted = _RANGE.fullmatch(self.headers.get("Range", ""))
        if data is None or wanted is None or wanted.groups() == ("", ""):
            self._send(data, "application/octet-stream", {"Accept-Ranges": "bytes"})
            return
        first, last = wanted.groups()
        start = int(first) if first else max(len(data) - int(last), 0)
        end = min(int(last), len(data) - 1) if first and last else len(data) - 1
        if start > end:
            empty = {"Content-Range": f"bytes */{len(data)}"}
            self._send(b"", "text/plain", empty, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            return
        headers = {"Content-Range": f"bytes {start}-{end}/{len(data)}", "Accept-Ranges": "bytes"}
        part = data[start : end + 1]
        self._send(part, "application/octet-stream", headers, HTTPStatus.PARTIAL_CONTENT)

    def _send(
        self,
        data: bytes | None,
        kind: str,
        headers: Mapping[str, str] | None = None,
        status: HTTPStatus = HTTPStatus.OK,
    ) -> None:
        if data is None:
            data, status, headers = b"not found", HTTPStatus.NOT_FOUND, None
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests have their own words."""


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _html(page: Mapping[str, Any]) -> str:
    lines = []
    for entry in page["files"]:
        attributes = ""
        if entry.get("requires-python"):
            attributes += f' data-requires-python="{html.escape(entry["requires-python"])}"'
        if known := entry.get("core-metadata"):
            attributes += f' data-core-metadata="sha256={known["sha256"]}"'
        if entry["yanked"] is not False:
            attributes += f' data-yanked="{html.escape(str(entry["yanked"]))}"'
        known_hash = entry["hashes"].get("sha256")
        link = entry["url"] + (f"#sha256={known_hash}" if known_hash else "")
        lines.append(f'<a href="{link}"{attributes}>{html.escape(entry["filename"])}</a><br>')
    return "<!DOCTYPE html><html><body>\n" + "\n".join(lines) + "\n</body></html>"
