"""Checks of the facts that are no wheels: cards, toolkits, couplings, known bugs and so on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from packaging.version import Version

from stackfix_knowledge.advisories import parse_advisories
from stackfix_knowledge.alternatives import AlternativesTable
from stackfix_knowledge.capability import ComputeCapability
from stackfix_knowledge.couplings import CouplingTable
from stackfix_knowledge.cuda import CudaTable
from stackfix_knowledge.features import feature_of
from stackfix_knowledge.gpus import parse_gpus
from stackfix_knowledge.indexes import IndexTable
from stackfix_knowledge.lint.decisions import parse_decisions
from stackfix_knowledge.lint.problem import Kind, Problem
from stackfix_knowledge.loading import LoadingTable
from stackfix_knowledge.packages import PackageTable, parse_packages
from stackfix_knowledge.pins import PinTable
from stackfix_knowledge.reader import Entry, FactsError, read_file
from stackfix_knowledge.variants import VariantTable
from stackfix_knowledge.vendor import VendorTable
from stackfix_knowledge.xids import parse_xids

__all__ = ["lint_table"]

Ordered = TypeVar("Ordered", Version, ComputeCapability)

_READ_ELSEWHERE = "signatures/"
"""The folder of log signatures, which are no part of the graph; here they need only be TOML."""

_WHOLE_FILE = frozenset({"packages.toml"})
"""Files whose sources stand for all of it and are not named in each entry."""


def lint_table(path: Path, name: str, packages: PackageTable) -> Iterator[Problem]:
    """Read one file with the code that the program reads it with, and look further.

    `name` is its path in the folder of facts.
    """
    try:
        file = read_file(path, shown_as=name)
        _read(file, name)
    except FactsError as error:
        yield Problem(kind=Kind.FAULT, file=error.file, place=error.place, text=_expected(error))
        return
    if name.startswith(_READ_ELSEWHERE):
        return
    if name != "about.toml":
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
        "alternatives": AlternativesTable.load,
        "couplings": CouplingTable.load,
        "indexes": IndexTable.load,
        "index-pins": PinTable.load,
        "variants": VariantTable.load,
        "loading": LoadingTable.load,
        "features": lambda: feature_of("any"),
        "xids": lambda: parse_xids(file),
        "borderline": lambda: tuple(parse_decisions(file)),
        "about": lambda: _about(file),
    }
    if folder == "advisories":
        tuple(parse_advisories(file, "advisory"))
    elif folder == "vendor":
        VendorTable.load(stem)
    elif stem in readers and not folder:
        readers[stem]()
    elif not name.startswith(_READ_ELSEWHERE):
        raise FactsError(name, "", "a file that the program reads: no code knows this one")


def _about(file: Entry) -> None:
    file.only("date")
    file.date("date")


def _sources(file: Entry, name: str) -> Iterator[Problem]:
    try:
        sources = file.sources()
    except FactsError as error:
        yield Problem(kind=Kind.FAULT, file=name, place=error.place, text=_expected(error))
        return
    used = set(_named(file.data))
    for source, evidence in sources.items():
        place = f"sources.{source}"
        if not evidence.date:
            yield Problem(kind=Kind.FAULT, file=name, place=place, text="expected a date")
        if name not in _WHOLE_FILE and source not in used:
            yield Problem(
                kind=Kind.FAULT, file=name, place=place, text="expected a fact that names it"
            )


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


def _advisories(file: Entry, name: str, packages: PackageTable) -> Iterator[Problem]:
    seen: set[str] = set()
    for entry in file.entries("advisory"):
        identifier = entry.text("id")
        if identifier in seen:
            yield Problem(
                kind=Kind.FAULT, file=name, place=f"{entry.place}.id", text="expected each id once"
            )
        seen.add(identifier)
        for package in entry.texts("packages"):
            if package not in packages:
                expected = f"expected a package that packages.toml lists, not {package}"
                place = f"{entry.place}.packages"
                yield Problem(kind=Kind.FAULT, file=name, place=place, text=expected)
        for affected in entry.entries("ranges"):
            if "fixed" in affected and affected.text("fixed") == affected.text("introduced"):
                expected = "expected a version above the one that introduced it"
                place = f"{affected.place}.fixed"
                yield Problem(kind=Kind.FAULT, file=name, place=place, text=expected)


def _capability(entry: Entry) -> ComputeCapability:
    return entry.capability("capability")


def _version(entry: Entry) -> Version:
    return entry.version("version")


def _in_order(
    file: Entry, name: str, key: str, of: Callable[[Entry], Ordered]
) -> Iterator[Problem]:
    """Whether the entries rise, or fall, throughout; a fault at the first that does not."""
    entries = list(file.entries(key))
    values = [of(entry) for entry in entries]
    rising = bool(values) and values[0] <= values[-1]
    for before, value, entry in zip(values, values[1:], entries[1:], strict=False):
        if value < before if rising else before < value:
            text = f"expected one order throughout: {value} stands after {before}"
            yield Problem(kind=Kind.FAULT, file=name, place=entry.place, text=text)
            return


def _expected(error: FactsError) -> str:
    return f"expected {error.expected}"
