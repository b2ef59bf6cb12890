"""Checks of what was measured of one package's wheels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from stackfix_knowledge.architecture import Architecture
from stackfix_knowledge.lint.problem import Kind, Problem
from stackfix_knowledge.reader import Entry, FactsError
from stackfix_knowledge.wheels import parse_release, release_tables

__all__ = ["lint_wheels"]

_DIGEST = re.compile(r"[0-9a-f]{64}")


def lint_wheels(file: Entry, package: str) -> Iterator[Problem]:
    """Read every release, and look at order, names of files and digests."""
    try:
        tables = release_tables(file, package)
    except FactsError as error:
        yield _fault(error.file, error.place, error.expected)
        return
    before: Version | None = None
    for version, entry in tables.items():
        if before is not None and version < before:
            yield _fault(
                file.file, entry.place, f"ascending versions: {version} stands after {before}"
            )
        before = version
        try:
            parse_release(entry, package)
        except FactsError as error:
            yield _fault(error.file, error.place, error.expected)
            continue
        platforms: set[str] = set()
        for wheel in entry.entries("wheel"):
            if wheel.text("platform") in platforms:
                yield _fault(file.file, f"{wheel.place}.platform", "each platform once")
            platforms.add(wheel.text("platform"))
            yield from _wheel(wheel, package, version)


def _wheel(wheel: Entry, package: str, version: Version) -> Iterator[Problem]:
    name = wheel.text("file")
    try:
        named, of_version, _, _ = parse_wheel_filename(name)
    except InvalidWheelFilename as error:
        yield _fault(wheel.file, f"{wheel.place}.file", f"the name of a wheel ({error})")
    else:
        if (named, of_version) != (package, version):
            expected = f"a wheel of {package} {version}, not {name}"
            yield _fault(wheel.file, f"{wheel.place}.file", expected)
    digest = wheel.optional_text("sha256")
    if digest is not None and not _DIGEST.fullmatch(digest):
        yield _fault(wheel.file, f"{wheel.place}.sha256", "64 hexadecimal digits")
    if digest is None and "measured" in wheel:
        yield _fault(wheel.file, f"{wheel.place}.sha256", "the digest of what was measured")
    libraries: set[str] = set()
    for library in wheel.entries("library"):
        if library.text("name") in libraries:
            yield _fault(wheel.file, f"{library.place}.name", "each library once")
        libraries.add(library.text("name"))
        for images in library.mapping("containers"):
            ordered = " ".join(
                str(image) for image in sorted(map(Architecture.parse, images.split()))
            )
            if images != ordered:
                place = f"{library.place}.containers"
                yield _fault(wheel.file, place, f'architectures in order, "{ordered}"')


def _fault(file: str, place: str, expected: str) -> Problem:
    return Problem(kind=Kind.FAULT, file=file, place=place, text=f"expected {expected}")
