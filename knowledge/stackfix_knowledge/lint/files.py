"""Checks of the facts, file by file, beyond what reading them refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from stackfix_knowledge.cards.cuda import CudaTable
from stackfix_knowledge.cards.gpus import parse_gpus
from stackfix_knowledge.hardware import Architecture, ComputeCapability
from stackfix_knowledge.lint.remark import Remark
from stackfix_knowledge.lint.verdicts import parse_decisions
from stackfix_knowledge.logs.signatures import parse_families, parse_signatures
from stackfix_knowledge.logs.xids import parse_xids
from stackfix_knowledge.measure.builds import parse_statements
from stackfix_knowledge.reader import Entry, FactsError, read_facts, read_file
from stackfix_knowledge.stack.advisories import parse_advisories
from stackfix_knowledge.stack.couplings import CouplingTable
from stackfix_knowledge.stack.loading import AlternativesTable, LoadingTable
from stackfix_knowledge.stack.packages import PackageTable, parse_packages
from stackfix_knowledge.stack.variants import VariantTable
from stackfix_knowledge.stack.vendor import VendorTable
from stackfix_knowledge.wheels.coverage import parse_features
from stackfix_knowledge.wheels.index_pins import PinTable
from stackfix_knowledge.wheels.indexes import IndexTable
from stackfix_knowledge.wheels.release import parse_release, release_tables

__all__ = ["lint_table", "lint_wheels"]

Ordered = TypeVar("Ordered", Version, ComputeCapability)

_DIGEST = re.compile(r"[0-9a-f]{64}")

_WHOLE_FILE = frozenset({"packages.toml"})
"""Files whose sources stand for all of it and are not named in each entry."""

_WITHOUT_SOURCES = frozenset({"about.toml", "signatures/families.toml"})


def lint_table(path: Path, name: str, packages: PackageTable) -> Iterator[Remark]:
    """Read one file with the code that the program reads it with, and look further.

    `name` is its path in the folder of facts.
    """
    try:
        file = read_file(path, shown_as=name)
        _read(file, name)
    except FactsError as error:
        yield Remark.refusal(error)
        return
    if name not in _WITHOUT_SOURCES:
        yield from _sources(file, name)
    if name == "gpus.toml":
        yield from _in_order(file, name, "cards", _capability)
    elif name == "cuda.toml":
        yield from _in_order(file, name, "toolkit", _version)
        yield from _in_order(file, name, "capability", _capability)
    elif name.startswith("vendor/"):
        yield from _in_order(file, name, "matrix", _version)
    elif name.startswith("advisories/"):
        yield from _advisories(file, name, packages)


def _read(file: Entry, name: str) -> None:
    folder, _, stem = name.removesuffix(".toml").rpartition("/")
    readers: dict[str, Callable[[], object]] = {
        "gpus": lambda: tuple(parse_gpus(file, "cards")),
        "packages": lambda: tuple(parse_packages(file)),
        "cuda": CudaTable.load,
        "alternatives": lambda: tuple(AlternativesTable.load()),
        "couplings": lambda: tuple(CouplingTable.load()),
        "indexes": lambda: ((table := IndexTable.load()).builds, table.companions),
        "index-pins": PinTable.load,
        "variants": VariantTable.load,
        "loading": lambda: (*(table := LoadingTable.load()), *table.loadings),
        "features": lambda: tuple(parse_features(file)),
        "statements": lambda: parse_statements(file),
        "xids": lambda: parse_xids(file),
        "borderline": lambda: tuple(parse_decisions(file)),
        "about": lambda: _about(file),
    }
    if folder == "advisories":
        tuple(parse_advisories(file, "advisory"))
    elif folder == "vendor":
        VendorTable.load(stem)
    elif folder == "signatures":
        parse_families(file) if stem == "families" else _signatures(file)
    elif stem in readers and not folder:
        readers[stem]()
    else:
        raise FactsError(name, "", "a file that the program reads: no code knows this one")


def _signatures(file: Entry) -> None:
    try:
        families = parse_families(read_facts("signatures/families.toml"))
    except FactsError:
        return  # reported where that file is looked at
    tuple(parse_signatures(file, families))


def _about(file: Entry) -> None:
    file.only("date")
    file.date("date")


def _sources(file: Entry, name: str) -> Iterator[Remark]:
    try:
        sources = file.sources()
    except FactsError as error:
        yield Remark.refusal(error)
        return
    used = set(_named(file.data))
    for source, evidence in sources.items():
        place = f"sources.{source}"
        if not evidence.date:
            yield Remark.fault(name, place, "a date")
        if name not in _WHOLE_FILE and source not in used:
            yield Remark.fault(name, place, "a fact that names it")


def _named(value: object) -> Iterator[str]:
    """Every source that some entry below `value` names."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "source":
                yield from [inner] if isinstance(inner, str) else inner
            elif key != "sources":
                yield from _named(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named(inner)


def _advisories(file: Entry, name: str, packages: PackageTable) -> Iterator[Remark]:
    seen: set[str] = set()
    for entry in file.entries("advisory"):
        identifier = entry.text("id")
        if identifier in seen:
            yield Remark.fault(name, f"{entry.place}.id", "each id once")
        seen.add(identifier)
        for package in entry.texts("packages"):
            if package not in packages:
                expected = f"a package that packages.toml lists, not {package}"
                yield Remark.fault(name, f"{entry.place}.packages", expected)
        for affected in entry.entries("ranges"):
            if "fixed" in affected and affected.text("fixed") == affected.text("introduced"):
                expected = "a version above the one that introduced it"
                yield Remark.fault(name, f"{affected.place}.fixed", expected)


def _capability(entry: Entry) -> ComputeCapability:
    return entry.capability("capability")


def _version(entry: Entry) -> Version:
    return entry.version("version")


def _in_order(file: Entry, name: str, key: str, of: Callable[[Entry], Ordered]) -> Iterator[Remark]:
    """Whether the entries rise, or fall, throughout; a fault at the first that does not."""
    entries = list(file.entries(key))
    values = [of(entry) for entry in entries]
    rising = bool(values) and values[0] <= values[-1]
    for before, value, entry in zip(values, values[1:], entries[1:], strict=False):
        if value < before if rising else before < value:
            expected = f"one order throughout: {value} stands after {before}"
            yield Remark.fault(name, entry.place, expected)
            return


def lint_wheels(file: Entry, package: str) -> Iterator[Remark]:
    """Read every release, and look at order, names of files and digests."""
    try:
        tables = release_tables(file, package)
    except FactsError as error:
        yield Remark.refusal(error)
        return
    before: Version | None = None
    for version, entry in tables.items():
        if before is not None and version < before:
            yield Remark.fault(
                file.file, entry.place, f"ascending versions: {version} stands after {before}"
            )
        before = version
        try:
            parse_release(entry, package)
        except FactsError as error:
            yield Remark.refusal(error)
            continue
        platforms: set[str] = set()
        for wheel in entry.entries("wheel"):
            if wheel.text("platform") in platforms:
                yield Remark.fault(file.file, f"{wheel.place}.platform", "each platform once")
            platforms.add(wheel.text("platform"))
            yield from _wheel(wheel, package, version)


def _wheel(wheel: Entry, package: str, version: Version) -> Iterator[Remark]:
    name = wheel.text("file")
    try:
        named, of_version, _, _ = parse_wheel_filename(name)
    except InvalidWheelFilename as error:
        yield Remark.fault(wheel.file, f"{wheel.place}.file", f"the name of a wheel ({error})")
    else:
        if (named, of_version) != (package, version):
            expected = f"a wheel of {package} {version}, not {name}"
            yield Remark.fault(wheel.file, f"{wheel.place}.file", expected)
    digest = wheel.optional_text("sha256")
    if digest is not None and not _DIGEST.fullmatch(digest):
        yield Remark.fault(wheel.file, f"{wheel.place}.sha256", "64 hexadecimal digits")
    if digest is None and "measured" in wheel:
        yield Remark.fault(wheel.file, f"{wheel.place}.sha256", "the digest of what was measured")
    libraries: set[str] = set()
    for library in wheel.entries("library"):
        if library.text("name") in libraries:
            yield Remark.fault(wheel.file, f"{library.place}.name", "each library once")
        libraries.add(library.text("name"))
        for images in library.mapping("containers"):
            ordered = " ".join(
                str(image) for image in sorted(map(Architecture.parse, images.split()))
            )
            if images != ordered:
                place = f"{library.place}.containers"
                yield Remark.fault(wheel.file, place, f'architectures in order, "{ordered}"')
