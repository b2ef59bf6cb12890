"""What locked wheels require, read from the index: a lock has names, but no version limits."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from stackfix_lockfiles.metadata.cache import Cache
from stackfix_lockfiles.packages import LockedFile, LockedPackage

if TYPE_CHECKING:
    from stackfix_lockfiles.metadata.remote import Reader
    from stackfix_lockfiles.sources import DeclaredIndex

__all__ = ["requires"]

_AT_ONCE = 12
_DEADLINE = 60.0
"""Seconds for all of them together; what is not read by then is unknown."""


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
    cache = Cache.default()
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
    cache: Cache,
    indexes: Iterable[DeclaredIndex],
) -> dict[str, tuple[str, ...]]:
    from concurrent.futures import ThreadPoolExecutor
    from concurrent.futures import TimeoutError as Late

    from stackfix_lockfiles.metadata.remote import Reader

    found: dict[str, tuple[str, ...]] = {}
    end = time.monotonic() + _DEADLINE
    with Reader(deadline=end, indexes=indexes) as reader:
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


def _one(reader: Reader, package: LockedPackage, wheel: LockedFile) -> tuple[str, ...] | None:
    from email.parser import HeaderParser  # not before a file is really read

    text = reader.metadata(wheel.url or "")
    if text is None:
        return None
    message = HeaderParser().parsestr(text)
    name = canonicalize_name(str(message.get("Name", "")))
    if name != package.name:  # not what the lock asked for
        return None
    return tuple(" ".join(str(line).split()) for line in message.get_all("Requires-Dist", []))


def _wheel(package: LockedPackage) -> LockedFile | None:
    """The wheel to read: one for every platform if there is one, else a Linux one."""
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
