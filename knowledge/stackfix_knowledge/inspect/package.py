"""Which GPU code one package carries, packed in a wheel or installed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from stackfix_index.errors import Unreadable
from stackfix_index.wheel import Wheel, metadata_of
from stackfix_knowledge.binaries.members import Members
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.inspect.installed import InstalledPackage
from stackfix_knowledge.measure.wheel import measure_binaries, measure_metadata
from stackfix_knowledge.wheels.release import PLATFORMS, WheelFact, platform_of

__all__ = ["Inspected", "inspect_installed", "inspect_wheel"]


class Inspected(NamedTuple):
    """One package, or the binaries in a folder that belong to none."""

    place: Path
    """The wheel or library, or the folder that the libraries' names are relative to."""
    package: str | None
    """Normalised name; None: the files of no package."""
    version: Version | None
    wheel: WheelFact
    """What was measured, as for a wheel on an index. The names of libraries are those in it."""


def inspect_wheel(path: Path) -> tuple[Inspected, list[Unreadable]]:
    """A wheel on disk, and the files of it that could not be read."""
    with Wheel(path, name=str(path)) as archive:
        return _measured(archive, path.name, path)


def inspect_installed(package: InstalledPackage) -> tuple[Inspected, list[Unreadable]]:
    """One installed package, and the files of it that could not be read."""
    return _measured(package, _wheel_name(package), package.root)


def _measured(archive: Members, file: str, place: Path) -> tuple[Inspected, list[Unreadable]]:
    """Measure the members; `file` is the wheel's name, or any other where that is not known."""
    faults: list[Unreadable] = []
    package = version = None
    fact = WheelFact(file=file, platform="any")
    try:
        name, version, _, tags = parse_wheel_filename(file)
        package = str(name)
        platforms = {platform_of(tag.platform) for tag in tags}
        platform = next((known for known in PLATFORMS if known in platforms), "any")
        fact = fact._replace(platform=platform)
        fact = measure_metadata(file, metadata_of(archive), platform=platform, sha256=None, date="")
    except (InvalidWheelFilename, Unreadable):
        pass  # the binaries tell all that is asked here
    fact = measure_binaries(archive, fact, date="", faults=faults)
    source = f"{archive.name} in {place}" if place.is_dir() else str(place)
    measured = Evidence(kind=EvidenceKind.MEASURED, source=source)
    inspected = Inspected(
        place=place, package=package, version=version, wheel=fact._replace(evidence=(measured,))
    )
    return inspected, [_located(fault, archive, place) for fault in faults]


def _wheel_name(package: InstalledPackage) -> str:
    """The name of the wheel that was installed, as far as its WHEEL file tells."""
    if package.info is None:
        return package.name
    try:
        text = package.text(f"{package.info}/WHEEL")
    except Unreadable:
        text = ""
    tags = [line.partition(":")[2].strip() for line in text.splitlines() if line[:4] == "Tag:"]
    return f"{package.name}-{tags[0] if tags else 'py3-none-any'}.whl"


def _located(fault: Unreadable, archive: Members, place: Path) -> Unreadable:
    """The fault with the full path of the file in its text."""
    if fault.source == archive.name:
        return fault
    if isinstance(archive, InstalledPackage) and fault.source in archive.files:
        return Unreadable(str(archive.files[fault.source]), fault.place, fault.expected)
    where = fault.source if fault.place is None else f"{fault.source}: {fault.place}"
    return Unreadable(str(place), where, fault.expected)
