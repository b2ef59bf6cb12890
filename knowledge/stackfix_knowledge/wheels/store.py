"""What was measured of wheels, one package's file read when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.reader import Entry, facts_folder, read_facts, read_file
from stackfix_knowledge.wheels.release import Release, collisions_in, parse_release, release_tables

__all__ = ["ReleaseTables", "WheelStore"]

ReleaseTables = Mapping[str, Mapping[Version, Entry]]
"""Tables of releases by package and version."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class WheelStore:
    """Measured releases by package and version, with the overlays' facts laid over them.

    A package's file is parsed as TOML at the first question about the package; a release in it
    is turned into objects at the first question about that release.
    """

    def __init__(self, overlays: Sequence[ReleaseTables] = (), folder: Path | None = None) -> None:
        self._overlays = tuple(overlays)
        self._folder = folder if folder is not None else facts_folder() / "wheels"
        self._tables: dict[str, Mapping[Version, Entry]] = {}
        self._parsed: dict[tuple[str, Version], Release] = {}

    def release(self, name: str, version: Version) -> Release | None:
        """The measured release of that version; None if there is none."""
        key = (name, version)
        if key not in self._parsed:
            entry = self._of(name).get(version)
            if entry is None:
                return None
            self._parsed[key] = parse_release(entry, name)
        return self._parsed[key]

    def releases(self, name: str) -> tuple[Release, ...]:
        """All measured releases of a package, ascending."""
        found = (self.release(name, version) for version in sorted(self._of(name)))
        return tuple(release for release in found if release is not None)

    def collisions(self, name: str) -> Mapping[str, tuple[Evidence, ...]]:
        """Packages that wheels of this one were measured to overwrite files of."""
        found: dict[str, tuple[Evidence, ...]] = {}
        for version in self._of(name):
            entry = self._of(name)[version]
            for other, evidence in collisions_in(entry):
                found.setdefault(other, evidence)
        return found

    def check_overlays(self) -> None:
        """Parse every release that an overlay touches. Raises FactsError."""
        for overlay in self._overlays:
            for name, releases in overlay.items():
                for version in releases:
                    self.release(name, version)

    def version(self, text: Version | str) -> Version | None:
        """The version that a text means; None if it means none."""
        return text if isinstance(text, Version) else _version(text)

    def date(self) -> str:
        """The day the shipped facts were last gone through."""
        return read_facts("about.toml").date("date") or "undated"

    def _of(self, name: str) -> Mapping[Version, Entry]:
        if name not in self._tables:
            tables: dict[Version, Entry] = {}
            path = self._folder / f"{name}.toml"
            if _NAME.fullmatch(name) and path.is_file():
                file = read_file(path, shown_as=f"wheels/{name}.toml")
                tables.update(release_tables(file, name))
            for overlay in self._overlays:
                for version, entry in overlay.get(name, {}).items():
                    tables[version] = _laid_over(tables.get(version), entry)
            self._tables[name] = tables
        return self._tables[name]


@cache
def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _laid_over(known: Entry | None, own: Entry) -> Entry:
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
