"""Which GPU code lies on this disk: in wheels, in what is installed, in one library."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from stackfix_index.errors import Unreadable
from stackfix_knowledge.binaries.elf import is_elf
from stackfix_knowledge.binaries.library import is_ptxas
from stackfix_knowledge.inspect.installed import InstalledPackage, find_installed
from stackfix_knowledge.inspect.package import Inspected, inspect_installed, inspect_wheel
from stackfix_knowledge.inspect.workers import inspect_on
from stackfix_knowledge.wheels.coverage import Coverage

__all__ = ["Inspection", "inspect_path"]

_WORTH_PROCESSES = 256 * 1024 * 1024
"""Bytes of libraries from which on several processes are faster than one."""


class Inspection(NamedTuple):
    """What was found under a path."""

    packages: tuple[Inspected, ...]
    """By name, those without any library or PTX assembler left out; last the files of none."""
    faults: tuple[Unreadable, ...] = ()
    """What could not be read, by its full path; the rest was."""


def inspect_path(path: Path, *, processes: int = 1) -> Inspection:
    """Inspect a wheel, a folder with everything installed below it, or one library.

    Nothing is executed. Symbolic links inside a folder are not followed; wheels that lie directly
    in it are inspected too. Large folders are read by that many processes. Raises Unreadable
    where the path itself is none of the three.
    """
    if path.is_dir():
        return _folder(path, processes)
    if not path.is_file():  # a pipe would keep us waiting
        raise Unreadable(str(path), None, "a wheel, a folder or a shared library")
    if path.suffix == ".whl":
        return _result([inspect_wheel(path)])
    if not is_ptxas(path.name):
        _require_elf(path)
    # Whatever its name, the file was named as a library.
    name = path.name if is_ptxas(path.name) else f"{path.name.removesuffix('.so')}.so"
    single = InstalledPackage(name=path.name, root=path, files={name: path})
    inspected, faults = inspect_installed(single)
    if faults:
        raise faults[0]
    return _result([(_named(inspected, path.name), [])])


def _folder(folder: Path, processes: int) -> Inspection:
    found, closed = find_installed(folder)
    results = [_wheel_in_folder(path) for path in sorted(folder.glob("*.whl")) if path.is_file()]
    size = sum(package.size for package in found)
    if processes > 1 and size >= _WORTH_PROCESSES and sys.executable:
        results += inspect_on(processes, found, folder)
    else:
        results += map(inspect_installed, found)
    return _result(results, closed)


def _result(
    results: Iterable[tuple[Inspected | None, Sequence[Unreadable]]],
    faults: Sequence[Unreadable] = (),
) -> Inspection:
    results = list(results)
    packages = [inspected for inspected, _ in results if inspected is not None]
    told = {str(fault): fault for fault in (*faults, *(f for _, own in results for f in own))}
    packages.sort(key=lambda one: (one.package is None, one.package or "", str(one.place)))
    return Inspection(packages=tuple(packages), faults=tuple(told[line] for line in sorted(told)))


def _wheel_in_folder(path: Path) -> tuple[Inspected | None, list[Unreadable]]:
    try:
        return inspect_wheel(path)
    except Unreadable as fault:
        return None, [fault]


def _named(inspected: Inspected, name: str) -> Inspected:
    """The one library under its own name."""
    coverage = inspected.wheel.coverage or Coverage(libraries=())
    libraries = tuple(library._replace(name=name) for library in coverage.libraries)
    wheel = inspected.wheel._replace(file=name, coverage=Coverage(libraries, coverage.toolkit))
    return inspected._replace(wheel=wheel)


def _require_elf(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            if is_elf(stream.read(6)):
                return
    except OSError as error:
        raise Unreadable(str(path), None, f"a readable file ({error.strerror})") from error
    raise Unreadable(str(path), None, "a wheel, a folder or a shared library")
