"""A project's own facts, laid over the shipped ones.

An overlay is a TOML file of one of two shapes: that of `facts/wheels/<package>.toml`, or tables
named `gpus`, `couplings`, `advisories` and `wheels`, each shaped like the entries of the shipped
file of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from stackfix_knowledge.advisories import Advisory, parse_advisories
from stackfix_knowledge.couplings import Coupling, parse_couplings
from stackfix_knowledge.gpus import Gpu, parse_gpus
from stackfix_knowledge.reader import Entry, read_file
from stackfix_knowledge.wheels import release_tables

__all__ = ["Overlay", "laid_over"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """The facts of one overlay file."""

    path: Path
    gpus: tuple[Gpu, ...]
    couplings: tuple[Coupling, ...]
    advisories: tuple[Advisory, ...]
    wheels: Mapping[str, Mapping[Version, Entry]]
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

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that it has facts about wheels of."""
        return tuple(self.wheels)

    def releases(self, package: str) -> Mapping[Version, Entry]:
        """The `release` tables of a package, by version."""
        return self.wheels.get(package, {})


def laid_over(known: Entry | None, own: Entry) -> Entry:
    """The release table `known` with the keys of `own` in place of its own.

    Wheels are matched by platform, and libraries in them by name; what `own` does not name stays.
    Faults are reported at the place in the overlay.
    """
    if known is None:
        return own
    data = {**known.data, **own.data}
    if "wheel" in own:
        data["wheel"] = _matched(known, own, "wheel", "platform", _wheel)
    return Entry(data, own.file, own.place)


def _wheel(known: Entry, own: Entry) -> dict[str, Any]:
    data = {**known.data, **own.data}
    if "library" in own:
        data["library"] = _matched(known, own, "library", "name", _replaced)
    return data


def _replaced(_known: Entry, own: Entry) -> Mapping[str, Any]:
    return own.data


def _matched(
    known: Entry,
    own: Entry,
    key: str,
    by: str,
    merge: Callable[[Entry, Entry], Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    """The tables under `key` of both, those with the same `by` merged, the overlay's first."""
    before = {entry.text(by): entry for entry in known.entries(key)}
    merged = []
    for entry in own.entries(key):
        earlier = before.pop(entry.text(by), None)
        merged.append(entry.data if earlier is None else merge(earlier, entry))
    return [*merged, *(entry.data for entry in before.values())]
