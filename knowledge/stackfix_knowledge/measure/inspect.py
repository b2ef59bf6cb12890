"""Which GPU code lies on this disk: in a wheel, a folder or one library."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stackfix_knowledge.measure.archive import Archive, is_library
from stackfix_knowledge.measure.elf import is_elf
from stackfix_knowledge.measure.errors import MeasureError
from stackfix_knowledge.measure.library import MeasuredLibrary, measure_library
from stackfix_knowledge.measure.ptxas import is_ptxas, read_ptxas
from stackfix_knowledge.measure.wheel import Binaries, binaries_of, read_binaries
from stackfix_knowledge.release import Ptxas

__all__ = ["Inspection", "inspect_path"]

_LARGEST_PTXAS = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What was found under a path."""

    binaries: Binaries
    """The libraries, named relative to the path that was given."""
    faults: tuple[MeasureError, ...] = ()
    """Files in a folder that could not be read; the others were."""


def inspect_path(path: Path) -> Inspection:
    """Inspect a wheel, a folder with everything below it, or one library.

    Symbolic links inside a folder are not followed, and each file counts once however many names
    it has. Raises MeasureError where the path itself is none of the three.
    """
    if path.is_dir():
        return _folder(path)
    if not path.is_file():  # a pipe would keep us waiting
        raise MeasureError(str(path), None, "a wheel, a folder or a shared library")
    if path.suffix == ".whl":
        with Archive(path, name=path.name) as archive:
            return Inspection(binaries=read_binaries(archive))
    library = _file(path, path.name)
    if isinstance(library, MeasuredLibrary):
        return Inspection(binaries=binaries_of([library], []))
    if isinstance(library, Ptxas):
        return Inspection(binaries=binaries_of([], [library]))
    raise MeasureError(str(path), None, "a wheel, a folder or a shared library")


def _folder(folder: Path) -> Inspection:
    libraries: list[MeasuredLibrary] = []
    assemblers: list[Ptxas] = []
    faults: list[MeasureError] = []
    for path in _candidates(folder):
        try:
            found = _file(path, path.relative_to(folder).as_posix())
        except MeasureError as fault:
            faults.append(fault)
            continue
        if isinstance(found, MeasuredLibrary):
            libraries.append(found)
        elif isinstance(found, Ptxas) and found not in assemblers:
            assemblers.append(found)
    return Inspection(binaries=binaries_of(libraries, assemblers), faults=tuple(faults))


def _candidates(folder: Path) -> Iterator[Path]:
    seen: set[tuple[int, int]] = set()
    for parent, folders, names in os.walk(folder):
        folders.sort()
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
                yield path


def _file(path: Path, name: str) -> MeasuredLibrary | Ptxas | None:
    try:
        with path.open("rb") as stream:
            if not is_elf(stream.read(6)):
                return None
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
                if is_ptxas(path.name):
                    return read_ptxas(data) if len(data) <= _LARGEST_PTXAS else None
                return measure_library(data, name=name)
    except OSError as error:
        raise MeasureError(str(path), None, f"a readable file ({error.strerror})") from error
