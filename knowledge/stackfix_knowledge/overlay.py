"""A project's own facts, laid over the shipped ones.

An overlay is a TOML file of one of two shapes: that of `facts/wheels/<package>.toml`, or tables
named `gpus`, `couplings`, `advisories` and `wheels`, each shaped like the entries of the shipped
file of that name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from packaging.version import Version

from stackfix_knowledge.cards.gpus import Gpu, parse_gpus
from stackfix_knowledge.reader import Entry, read_file
from stackfix_knowledge.stack.advisories import Advisory, parse_advisories
from stackfix_knowledge.stack.couplings import Coupling, parse_couplings
from stackfix_knowledge.wheels.release import release_tables
from stackfix_knowledge.wheels.store import ReleaseTables

__all__ = ["Overlay"]


class Overlay(NamedTuple):
    """The facts of one overlay file."""

    path: Path
    gpus: tuple[Gpu, ...]
    couplings: tuple[Coupling, ...]
    advisories: tuple[Advisory, ...]
    wheels: ReleaseTables
    """By package and version, the `release` tables; each may leave out what it does not change."""

    @classmethod
    def read(cls, path: Path) -> Overlay:
        """Read an overlay. Raises FactsError with the file, the place and what was expected."""
        file = read_file(path)
        wheels: dict[str, Mapping[Version, Entry]] = {}
        if "package" in file:
            wheels[file.text("package")] = release_tables(file, file.text("package"))
        else:
            file.only("sources", "gpus", "couplings", "advisories", "wheels")
            for entry in file.entries("wheels"):
                name = entry.text("package")
                if name in wheels:
                    raise entry.fault("package", f"{name} once")
                wheels[name] = release_tables(entry, name)
        return cls(
            path=path,
            gpus=tuple(parse_gpus(file, "gpus")),
            couplings=tuple(parse_couplings(file, "couplings")),
            advisories=tuple(parse_advisories(file, "advisories")),
            wheels=wheels,
        )
