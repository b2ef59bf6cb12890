"""What locked wheels require, read from the index: a lock has names, but no version limits."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from stackfix_index.names import normalized
from stackfix_lockfiles.packages import LockedFile, LockedPackage

if TYPE_CHECKING:
    from packaging.tags import Tag

    from stackfix_index.client import Client
    from stackfix_lockfiles.sources import DeclaredIndex

__all__ = ["RemoteMetadata", "RequirementsCache", "requires"]

_AT_ONCE = 12
_DEADLINE = 60.0
"""Seconds for all of them together; what is not read by then is unknown."""
_WAIT = 15.0
"""Seconds for each part of an answer."""
_TAIL = 64 << 10
"""Bytes that are read first of a wheel, from the end."""
_WHOLE = 16 << 20
"""Bytes up to which a wheel is read whole from a server that knows no ranges."""
_PATIENCE = 3
"""Files without METADATA beside them, and none with, after which a host is not asked again."""
_HASH = re.compile(r"sha256:([0-9a-f]{64})")
_MAX_BYTES = 4 << 20
"""Of a file in the cache."""


def requires(
    packages: Iterable[LockedPackage],
    *,
    offline: bool = False,
    indexes: Iterable[DeclaredIndex] = (),
) -> Mapping[str, tuple[str, ...] | None]:
    """Map each package's name to the `Requires-Dist` of one of its wheels; None where unknown.

    Read from the wheel's METADATA beside it (PEP 658) or, where the index has none, from within
    the wheel by range requests: some kilobytes, never the whole of a large wheel. Kept on disk by
    the wheel's sha256, so that a second time asks nobody. With `offline` only the disk is read.
    `indexes` are the project's: uv's variables with credentials go by their names.
    A package without wheels, or whose host does not answer, is unknown; nothing is raised.
    """
    cache = RequirementsCache.default()
    found: dict[str, tuple[str, ...] | None] = {}
    missing: list[tuple[LockedPackage, LockedFile]] = []
    for package in packages:
        found[package.name] = None
        wheel = _wheel(package)
        if wheel is None:
            continue
        known = cache.get(wheel.hash)
        if known is not None:
            found[package.name] = known
        elif not offline:
            missing.append((package, wheel))
    if missing:
        found.update(_read(missing, cache, indexes))
    return found


def _read(
    missing: list[tuple[LockedPackage, LockedFile]],
    cache: RequirementsCache,
    indexes: Iterable[DeclaredIndex],
) -> dict[str, tuple[str, ...]]:
    from concurrent.futures import ThreadPoolExecutor
    from concurrent.futures import TimeoutError as Late

    from stackfix_index.client import Client
    from stackfix_index.configured import NamedIndex

    found: dict[str, tuple[str, ...]] = {}
    end = time.monotonic() + _DEADLINE
    named = [NamedIndex(index.name, index.url) for index in indexes]
    with Client(patience=_WAIT, deadline=end, indexes=named) as client:
        reader = RemoteMetadata(client)
        pool = ThreadPoolExecutor(max_workers=_AT_ONCE)
        try:
            waiting = [
                (package, wheel, pool.submit(_one, reader, package, wheel))
                for package, wheel in missing
            ]
            for package, wheel, future in waiting:
                try:
                    read = future.result(timeout=max(end - time.monotonic(), 0.0))
                except Late:
                    continue
                if read is not None:
                    found[package.name] = read
                    cache.put(wheel.hash, read)
        finally:  # neither the deadline nor Ctrl-C waits for a slow server
            pool.shutdown(wait=False, cancel_futures=True)
    return found


def _one(
    reader: RemoteMetadata, package: LockedPackage, wheel: LockedFile
) -> tuple[str, ...] | None:
    from stackfix_index.wheel import read_metadata  # not before a file is really read

    text = reader.read(wheel.url or "")
    if text is None:
        return None
    read = read_metadata(text)
    if normalized(read.name or "") != package.name:  # not what the lock asked for
        return None
    return read.requires


class RemoteMetadata:
    """Reads the METADATA of wheels by their URL; may be used from several threads."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._beside: Counter[tuple[str, bool]] = Counter()
        self._lock = threading.Lock()

    def read(self, url: str) -> str | None:
        """The METADATA of the wheel at `url`; None where it cannot be read."""
        from stackfix_index.errors import Unreadable

        try:
            return self._from_beside(url) or self._from_within(url)
        except (Unreadable, ValueError):
            return None

    def _from_beside(self, url: str) -> str | None:
        from stackfix_index.errors import Refused
        from stackfix_index.simple import LARGEST_METADATA

        host = urlsplit(url).netloc.rpartition("@")[2]
        with self._lock:
            if self._beside[host, False] >= _PATIENCE and not self._beside[host, True]:
                return None
        address = f"{url.partition('#')[0]}.metadata"
        try:
            text = self._client.get(address, what=url, limit=LARGEST_METADATA).text
        except Refused:
            text = ""
        found = text.lstrip().lower().startswith("metadata-version:")
        with self._lock:
            self._beside[host, found] += 1
        return text if found else None

    def _from_within(self, url: str) -> str:
        from stackfix_index.remote import RemoteFile
        from stackfix_index.wheel import Wheel, metadata_of

        remote = RemoteFile(self._client, url, name=url, tail=_TAIL, whole=_WHOLE)
        with Wheel(remote, name=url) as wheel:
            return metadata_of(wheel)


def _wheel(package: LockedPackage) -> LockedFile | None:
    """The wheel to read: one for every platform if there is one, else a Linux one."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    best: tuple[tuple[int, int], LockedFile] | None = None
    for wheel in package.wheels:
        if wheel.url is None or not wheel.url.startswith(("https://", "http://")):
            continue
        try:
            _, _, _, tags = parse_wheel_filename(wheel.filename)
        except (InvalidWheelFilename, ValueError):
            continue
        order = (_rank(tags), -max(_minor(tag.interpreter) for tag in tags))
        if best is None or order < best[0]:
            best = (order, wheel)
    return best[1] if best else None


def _rank(tags: Iterable[Tag]) -> int:
    """What to read first. Requirements may differ by platform; Linux on x86_64 has the most."""
    platforms = " ".join(tag.platform for tag in tags)
    if platforms == "any":
        return 0
    order = ("manylinux", "linux")
    for number, system in enumerate(order):
        for step, machine in enumerate(("x86_64", "aarch64")):
            if re.search(rf"\b{system}\S*_{machine}\b", platforms):
                return 1 + 2 * number + step
    return 9


def _minor(interpreter: str) -> int:
    """11 of `cp311`, 0 of `py3`."""
    found = re.fullmatch(r"(?:cp|py)3(\d+)", interpreter)
    return int(found[1]) if found else 0


@dataclass(frozen=True, slots=True)
class RequirementsCache:
    """Requirements of wheels on disk, by the wheel's sha256: no wheel changes under its hash.

    A folder of small JSON files. One that cannot be used is as an empty one.
    """

    folder: Path

    @classmethod
    def default(cls) -> RequirementsCache:
        """The one in the user's cache folder."""
        home = Path.home()
        base = os.environ.get("XDG_CACHE_HOME")
        if base and Path(base).is_absolute():
            root = Path(base)
        elif sys.platform == "darwin":
            root = home / "Library" / "Caches"
        else:
            root = home / ".cache"
        return cls(root / "stackfix" / "metadata")

    def get(self, file_hash: str | None) -> tuple[str, ...] | None:
        """The requirements kept for a file; None if there are none."""
        path = self._path(file_hash)
        if path is None:
            return None
        try:
            with path.open("rb") as file:
                data = file.read(_MAX_BYTES)
        except OSError:
            return None
        import json  # a reader of locks that finds nothing here has no other use for it

        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return None
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        return None

    def put(self, file_hash: str | None, requirements: tuple[str, ...]) -> None:
        """Keep a file's requirements; without a hash nothing is kept."""
        path = self._path(file_hash)
        if path is None:
            return
        import json
        import tempfile

        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, fresh = tempfile.mkstemp(dir=path.parent)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(requirements, file)
            os.replace(fresh, path)

    def _path(self, file_hash: str | None) -> Path | None:
        found = _HASH.fullmatch(file_hash or "")
        return self.folder / found[1][:2] / f"{found[1][2:]}.json" if found else None
