"""Files that the index does not know under the hash that the lock has for them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from stackfix.model.finding import Finding, Severity
from stackfix_index.client import Client
from stackfix_index.errors import Unreadable
from stackfix_index.simple import Index
from stackfix_lockfiles.lock import Lock, LockedPackage

__all__ = ["unknown_hashes"]

_AT_ONCE = 12
_DEADLINE = 60.0
_WAIT = 15.0
"""Seconds for each part of an answer."""


def unknown_hashes(lock: Lock) -> Iterator[Finding]:
    """A finding for every package with a file whose hash the index does not confirm.

    A page that cannot be read says nothing, and neither does a file that the index gives no
    sha256 for. A file that is gone from the page is a warning: indexes let files go.
    """
    asked = [package for package in lock.packages if _index(package) and package.version]
    pages = sorted({(_index(package), package.name) for package in asked})
    with Client(patience=_WAIT, deadline=time.monotonic() + _DEADLINE) as client:

        def listed(page: tuple[str, str]) -> Mapping[str, str | None] | None:
            """The sha256 of each file of a page, None where it gives none; None: no page."""
            index, name = page
            try:
                return {file.filename: file.sha256 for file in Index(index, client).files(name)}
            except Unreadable:
                return None

        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            found = dict(zip(pages, pool.map(listed, pages), strict=True))
    for package in asked:
        known = found[_index(package), package.name]
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


def _index(package: LockedPackage) -> str:
    """The address of the index that a package comes from; an empty text where it has none."""
    index = package.source.index or ""
    return index if index.startswith(("https://", "http://")) else ""
