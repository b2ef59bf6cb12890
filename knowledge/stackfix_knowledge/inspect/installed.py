"""Packages installed in a folder, and the files in it that belong to none."""

from __future__ import annotations

import csv
import mmap
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from stackfix_index.errors import Unreadable
from stackfix_knowledge.binaries.library import is_library, is_ptxas
from stackfix_knowledge.measure.builds import statements

__all__ = ["InstalledPackage", "find_installed"]

_LARGEST_TEXT = 8 * 1024 * 1024
"""Bytes of a file such as METADATA."""
_LARGEST_RECORD = 64 * 1024 * 1024
"""Bytes of a RECORD; the fullest known has 3 MB."""
_INFO = re.compile(r"([A-Za-z0-9._]+)-([A-Za-z0-9.!+_]+)\.dist-info")


class InstalledPackage(NamedTuple):
    """The files of one package, where an installer has put them; see `Members`."""

    name: str
    """``torch-2.8.0``; for the files of no package the folder's own name."""
    root: Path
    """The folder that paths are relative to, such as ``…/site-packages``."""
    files: Mapping[str, Path] = {}
    """Where a path in the wheel lies on disk."""
    info: str | None = None
    """Its ``.dist-info`` folder; None for the files of no package."""
    size: int = 0
    """Of its libraries and programs, in bytes."""

    def names(self) -> tuple[str, ...]:
        return tuple(self.files)

    def text(self, member: str) -> str:
        return self.read(member, limit=_LARGEST_TEXT).decode("utf-8", "replace")

    def read(self, member: str, *, limit: int) -> bytes:
        with self.mapped(member) as data:
            if len(data) > limit:
                raise Unreadable(member, None, f"at most {limit:,} bytes")
            return data[:]

    @contextmanager
    def mapped(self, member: str) -> Iterator[bytes | mmap.mmap]:
        path = self.files[member]
        try:
            if not stat.S_ISREG(path.lstat().st_mode):  # a pipe would keep us waiting
                raise Unreadable(member, None, "an ordinary file")
            with path.open("rb") as stream:
                if not os.fstat(stream.fileno()).st_size:
                    yield b""
                    return
                data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise Unreadable(member, None, f"a readable file ({error.strerror})") from error
        with data:
            yield data


def find_installed(folder: Path) -> tuple[list[InstalledPackage], list[Unreadable]]:
    """What lies in a folder: its packages, then one for the files of none; and what is closed.

    Only libraries, PTX assemblers and the few files that tell a build are noted. Symbolic links
    are not followed, and each file counts once however many names it has.
    """
    faults: list[Unreadable] = []
    sites: dict[Path, list[str]] = {}
    loose: dict[Path, int] = {}
    for parent, folders, binaries in _walk(folder, faults):
        if infos := [name for name in folders if _INFO.fullmatch(name)]:
            sites[parent] = infos
        loose.update(binaries)
    found = [
        package
        for site, infos in sorted(sites.items())
        for package in _packages(site, infos, loose, faults)
    ]
    if loose:
        files = {_shown(path.relative_to(folder)): path for path in loose}
        found.append(
            InstalledPackage(name=folder.name, root=folder, files=files, size=sum(loose.values()))
        )
    return found, faults


def _walk(
    folder: Path, faults: list[Unreadable]
) -> Iterator[tuple[Path, Sequence[str], Mapping[Path, int]]]:
    """Every folder with the names of its folders and its binaries with their sizes."""
    seen: set[tuple[int, int]] = set()

    def closed(error: OSError) -> None:
        faults.append(
            Unreadable(str(error.filename), None, f"a readable folder ({error.strerror})")
        )

    for parent, folders, names in os.walk(folder, onerror=closed):
        folders.sort()
        binaries: dict[Path, int] = {}
        for name in sorted(names):
            if not is_library(name) and not is_ptxas(name):
                continue
            path = Path(parent, name)
            try:
                status = path.lstat()
            except OSError:
                continue
            identity = (status.st_dev, status.st_ino)
            if stat.S_ISREG(status.st_mode) and identity not in seen:
                seen.add(identity)
                binaries[path] = status.st_size
        yield Path(parent), folders, binaries


def _packages(
    site: Path, infos: Iterable[str], loose: dict[Path, int], faults: list[Unreadable]
) -> Iterator[InstalledPackage]:
    """The packages of one ``site-packages`` that own some of the loose files, which they take."""
    for info in infos:
        try:
            record = list(_record(site, info))
        except Unreadable as fault:
            faults.append(fault)
            continue
        files, size = {}, 0
        for name in record:
            path = Path(os.path.normpath(site / name))
            if path in loose:
                size += loose.pop(path)
                files[name] = path
        if files:
            files |= {name: site / name for name in record if name in statements()}
            files |= {f"{info}/{name}": site / info / name for name in ("METADATA", "WHEEL")}
            yield InstalledPackage(
                name=info.removesuffix(".dist-info"), root=site, files=files, info=info, size=size
            )


def _record(site: Path, info: str) -> Iterator[str]:
    """The paths in a package's RECORD that may matter here."""
    path = site / info / "RECORD"
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise Unreadable(str(path), None, "an ordinary file")
        if path.stat().st_size > _LARGEST_RECORD:
            raise Unreadable(str(path), None, f"at most {_LARGEST_RECORD:,} bytes")
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise Unreadable(str(path), None, f"a readable file ({error.strerror})") from error
    for line in text.splitlines():
        name = next(csv.reader([line]))[0] if line.startswith('"') else line.partition(",")[0]
        if is_library(name) or is_ptxas(name) or name in statements():
            yield name


def _shown(path: Path) -> str:
    """A path as text; bytes that are no text are spelt out."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")
