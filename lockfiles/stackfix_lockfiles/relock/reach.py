"""Which git and URL sources uv can read, and which hosts answer at all.

uv itself tries a dead host several times, with pauses. A look that costs little comes first; then
uv's own words tell what it could not read.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from stackfix_index.names import normalized
from stackfix_lockfiles.packages import SourceKind
from stackfix_lockfiles.scratch import Known

__all__ = ["TIMED_OUT", "answers", "host_of", "out_of_reach", "set_aside"]

TIMED_OUT = "timed out"
"""In place of what uv said: it may still have been cloning."""
_UNREADABLE = re.compile(
    r"Failed to (?:download and build|download|build|fetch|read metadata[^`]*|parse[^`]*"
    r"|prepare[^`]*) `(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(?:==[^`]*| @ [^`]*)?`"
)
_GIT = re.compile(r"Git operation failed|failed to (?:clone|fetch)")

_PATIENCE = 2.0
"""Seconds to wait for a host to take a connection."""
_PORTS = {"https": 443, "http": 80, "ssh": 22, "git": 9418}


def out_of_reach(entries: Iterable[Known], *, cache: Path | None, offline: bool) -> set[str]:
    """Names of the packages whose source surely cannot be read now."""
    asked: dict[tuple[str, int], list[str]] = {}
    unreadable: set[str] = set()
    for entry in entries:
        if entry.kind is SourceKind.GIT and cache is not None and _is_checked_out(entry, cache):
            continue
        address = host_of(entry.source)
        if offline:
            unreadable.add(entry.name)
        elif address is not None:
            asked.setdefault(address, []).append(entry.name)
    if asked and not _uses_proxy():
        with ThreadPoolExecutor(max_workers=8) as pool:
            for answers, names in zip(pool.map(_answers, asked), asked.values(), strict=True):
                if not answers:
                    unreadable.update(names)
    return unreadable


def set_aside(said: str, remote: Mapping[str, Known]) -> set[str]:
    """The packages to read from the old lock, given why uv failed; none: that would not help."""
    if said == TIMED_OUT:
        return set(remote)
    name = next((found["name"] for found in _UNREADABLE.finditer(said)), None)
    failed = remote.get(normalized(name)) if name else None
    if failed is None:
        return set(remote) if remote and _GIT.search(said) else set()
    if not _GIT.search(said):
        return {failed.name}
    host = host_of(failed.source)
    return {entry.name for entry in remote.values() if host_of(entry.source) == host}


def answers(url: str) -> bool:
    """Whether the host of a URL, or the proxy to it, takes a connection."""
    from urllib.request import getproxies, proxy_bypass

    address, scheme = host_of(url), urlsplit(url).scheme
    if address is None:
        return True
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if proxy and not proxy_bypass(address[0]):
        address = host_of(proxy if "://" in proxy else f"http://{proxy}")
    return address is None or _answers(address)


def host_of(source: str) -> tuple[str, int] | None:
    """Host and port of a URL; None for a local one."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(source)
        if parts.hostname:
            return parts.hostname, parts.port or _PORTS.get(parts.scheme, 443)
    return None


def _is_checked_out(entry: Known, cache: Path) -> bool:
    commit = entry.source.rpartition("#")[2]
    if len(commit) < 40:
        return False
    return any(cache.glob(f"git-v*/checkouts/*/{commit[:7]}*"))


def _answers(address: tuple[str, int]) -> bool:
    try:
        with socket.create_connection(address, timeout=_PATIENCE):
            return True
    except OSError:
        return False


def _uses_proxy() -> bool:
    names = ("https_proxy", "http_proxy", "all_proxy")
    return any(os.environ.get(name) or os.environ.get(name.upper()) for name in names)
