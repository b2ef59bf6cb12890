"""Whether there is room for a scratch environment, before anything is fetched."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection
from pathlib import Path

from stackfix.validate.closure import Closure
from stackfix.validate.errors import DiskShort
from stackfix.wording import count, listed, size

__all__ = ["cached_by", "require_room", "told"]

_SPARE = 1 << 30
"""Bytes that stay free on a disk."""
_CACHED = re.compile(
    r"^DEBUG .*\brequirement already cached: ([A-Za-z0-9][A-Za-z0-9._-]*)(?:==|$)", re.M
)


def cached_by(log: str) -> frozenset[str]:
    """The packages that uv has unpacked in its cache, from what `uv sync --dry-run -v` says.

    A uv that says it otherwise has none: then everything is counted.
    """
    return frozenset(_CACHED.findall(log))


def require_room(
    closure: Closure,
    *,
    folder: Path,
    cache: Path,
    linked: bool,
    cached: Collection[str],
    installed: Collection[str],
) -> None:
    """Raise DiskShort where a disk has too little room for what is not there yet.

    `linked`: uv puts files of its cache into an environment by links, where both are on one disk.
    """
    if all(package.name in installed for package in closure.packages):
        return
    place = cache
    while not place.exists() and place != place.parent:
        place = place.parent
    one_disk = os.stat(place).st_dev == os.stat(folder).st_dev
    fetched = closure.disk(cached)
    copied = 0 if one_disk and linked else closure.disk(installed)
    needs = {folder: fetched + copied} if one_disk else {place: fetched, folder: copied}
    for where, needed in needs.items():
        _require(where, needed, closure)


def _require(place: Path, needed: int, closure: Closure) -> None:
    free = shutil.disk_usage(place).free
    if free < needed + _SPARE:
        raise DiskShort(
            f"{place}: {count(len(closure.packages), 'package')} need about {size(needed)} more,"
            f" {size(free)} are free and {size(_SPARE)} of them stay so: name another disk with"
            " XDG_CACHE_HOME and UV_CACHE_DIR"
        )


def told(closure: Closure, *, everything: bool, cached: Collection[str]) -> tuple[str, ...]:
    """What is going to happen, before it does: a line each."""
    number = len(closure.packages)
    here = sum(package.name in cached for package in closure.packages)
    which = "all" if here == number else f"{here:,} of them"
    lines = [
        count(number, "package")
        + (f", {which} in uv's cache" if here else "")
        + f": {size(closure.download(cached))} to fetch and about {size(closure.disk())} unpacked"
        + (f"; {closure.unsized} of unknown size" if closure.unsized else "")
    ]
    if closure.built and everything:
        lines.append(f"built from source, which runs their code: {listed(closure.built)}")
    elif closure.built:
        lines.append(
            f"left out, for they have no wheel (--all builds them): {listed(closure.built)}"
        )
    if closure.in_place:
        lines.append(
            "left out, for a build would write in folders named by an absolute path:"
            f" {listed(closure.in_place)}"
        )
    return tuple(lines)
