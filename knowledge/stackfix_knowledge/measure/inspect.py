"""Which GPU code lies on this disk: in wheels, in what is installed, in one library."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from stackfix_knowledge.coverage import Coverage
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.measure.archive import Archive
from stackfix_knowledge.measure.elf import is_elf
from stackfix_knowledge.measure.errors import MeasureError
from stackfix_knowledge.measure.installed import Installed, find_installed
from stackfix_knowledge.measure.members import Members
from stackfix_knowledge.measure.ptxas import is_ptxas
from stackfix_knowledge.measure.select import PLATFORMS, platform_of
from stackfix_knowledge.measure.wheel import measure_binaries, measure_metadata, metadata_of
from stackfix_knowledge.release import WheelFact

__all__ = ["Inspected", "Inspection", "inspect_installed", "inspect_path"]

_WORTH_PROCESSES = 256 * 1024 * 1024
"""Bytes of libraries from which on several processes are faster than one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """One package, or the binaries in a folder that belong to none."""

    place: Path
    """The wheel or library, or the folder that the libraries' names are relative to."""
    package: str | None
    """Normalised name; None: the files of no package."""
    version: Version | None
    wheel: WheelFact
    """What was measured, as for a wheel on an index. The names of libraries are those in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What was found under a path."""

    packages: tuple[Inspected, ...]
    """By name, those without any library or PTX assembler left out; last the files of none."""
    faults: tuple[MeasureError, ...] = ()
    """What could not be read, by its full path; the rest was."""


def inspect_path(path: Path, *, processes: int = 1) -> Inspection:
    """Inspect a wheel, a folder with everything installed below it, or one library.

    Nothing is executed. Symbolic links inside a folder are not followed; wheels that lie directly
    in it are inspected too. Large folders are read by that many processes. Raises MeasureError
    where the path itself is none of the three.
    """
    if path.is_dir():
        return _folder(path, processes)
    if not path.is_file():  # a pipe would keep us waiting
        raise MeasureError(str(path), None, "a wheel, a folder or a shared library")
    if path.suffix == ".whl":
        return _result([_wheel(path)])
    if not is_ptxas(path.name):
        _require_elf(path)
    # Whatever its name, the file was named as a library.
    name = path.name if is_ptxas(path.name) else f"{path.name.removesuffix('.so')}.so"
    single = Installed(name=path.name, root=path, files={name: path})
    inspected, faults = inspect_installed(single)
    if faults:
        raise faults[0]
    return _result([(_named(inspected, path.name), [])])


def _folder(folder: Path, processes: int) -> Inspection:
    found, closed = find_installed(folder)
    results = [_wheel_in_folder(path) for path in sorted(folder.glob("*.whl")) if path.is_file()]
    size = sum(package.size for package in found)
    if processes > 1 and size >= _WORTH_PROCESSES and sys.executable:
        from stackfix_knowledge.measure.workers import inspect_on

        results += inspect_on(processes, found, folder)
    else:
        results += map(inspect_installed, found)
    return _result(results, closed)


def _result(
    results: Iterable[tuple[Inspected | None, Sequence[MeasureError]]],
    faults: Sequence[MeasureError] = (),
) -> Inspection:
    results = list(results)
    packages = [inspected for inspected, _ in results if inspected is not None]
    told = {str(fault): fault for fault in (*faults, *(f for _, own in results for f in own))}
    packages.sort(key=lambda one: (one.package is None, one.package or "", str(one.place)))
    return Inspection(packages=tuple(packages), faults=tuple(told[line] for line in sorted(told)))


def _wheel_in_folder(path: Path) -> tuple[Inspected | None, list[MeasureError]]:
    try:
        return _wheel(path)
    except MeasureError as fault:
        return None, [fault]


def _wheel(path: Path) -> tuple[Inspected, list[MeasureError]]:
    with Archive(path, name=str(path)) as archive:
        return _measured(archive, path.name, path)


def inspect_installed(package: Installed) -> tuple[Inspected, list[MeasureError]]:
    """One installed package, and the files of it that could not be read."""
    return _measured(package, _wheel_name(package), package.root)


def _measured(archive: Members, file: str, place: Path) -> tuple[Inspected, list[MeasureError]]:
    """Measure the members; `file` is the wheel's name, or any other where that is not known."""
    faults: list[MeasureError] = []
    package = version = None
    fact = WheelFact(file=file, platform="any")
    try:
        name, version, _, tags = parse_wheel_filename(file)
        package = str(name)
        platforms = {platform_of(tag.platform) for tag in tags}
        platform = next((known for known in PLATFORMS if known in platforms), "any")
        fact = replace(fact, platform=platform)
        fact = measure_metadata(file, metadata_of(archive), platform=platform, sha256=None, date="")
    except (InvalidWheelFilename, MeasureError):
        pass  # the binaries tell all that is asked here
    fact = measure_binaries(archive, fact, date="", faults=faults)
    source = f"{archive.name} in {place}" if place.is_dir() else str(place)
    measured = Evidence(kind=EvidenceKind.MEASURED, source=source)
    inspected = Inspected(
        place=place, package=package, version=version, wheel=replace(fact, evidence=(measured,))
    )
    return inspected, [_located(fault, archive, place) for fault in faults]


def _wheel_name(package: Installed) -> str:
    """The name of the wheel that was installed, as far as its WHEEL file tells."""
    if package.info is None:
        return package.name
    try:
        text = package.text(f"{package.info}/WHEEL")
    except MeasureError:
        text = ""
    tags = [line.partition(":")[2].strip() for line in text.splitlines() if line[:4] == "Tag:"]
    return f"{package.name}-{tags[0] if tags else 'py3-none-any'}.whl"


def _located(fault: MeasureError, archive: Members, place: Path) -> MeasureError:
    """The fault with the full path of the file in its text."""
    if fault.source == archive.name:
        return fault
    if isinstance(archive, Installed) and fault.source in archive.files:
        return MeasureError(str(archive.files[fault.source]), fault.place, fault.expected)
    where = fault.source if fault.place is None else f"{fault.source}: {fault.place}"
    return MeasureError(str(place), where, fault.expected)


def _named(inspected: Inspected, name: str) -> Inspected:
    """The one library under its own name."""
    coverage = inspected.wheel.coverage or Coverage(libraries=())
    libraries = tuple(replace(library, name=name) for library in coverage.libraries)
    wheel = replace(inspected.wheel, file=name, coverage=replace(coverage, libraries=libraries))
    return replace(inspected, wheel=wheel)


def _require_elf(path: Path) -> None:
    try:
        with path.open("rb") as stream:
            if is_elf(stream.read(6)):
                return
    except OSError as error:
        raise MeasureError(str(path), None, f"a readable file ({error.strerror})") from error
    raise MeasureError(str(path), None, "a wheel, a folder or a shared library")
