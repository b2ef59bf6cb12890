"""What was measured of wheels, one package's file read when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import rtoml
from packaging.version import InvalidVersion, Version

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.reader import Entry, facts_folder, read_facts, read_file
from stackfix_knowledge.wheels.release import Release, collisions_in, parse_release, release_tables

__all__ = ["ReleaseTables", "WheelStore"]

ReleaseTables = Mapping[str, Mapping[Version, Entry]]
"""Tables of releases by package and version."""

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_VERSION = 'version = "'


class WheelStore:
    """Measured releases by package and version, with the overlays' facts laid over them.

    A package's file has tens of releases, of which a lock has one. So the file is taken apart by
    the headings of its releases, and of these only what is asked for is parsed as TOML.
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
        tables = self._of(name)
        telling = tables.telling("collides") if isinstance(tables, _Written) else tables.values()
        found: dict[str, tuple[Evidence, ...]] = {}
        for entry in telling:
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
            self._tables[name] = self._read(name)
        return self._tables[name]

    def _read(self, name: str) -> Mapping[Version, Entry]:
        path = self._folder / f"{name}.toml"
        known: Mapping[Version, Entry] = {}
        if _NAME.fullmatch(name) and path.is_file():
            shown = f"wheels/{name}.toml"
            known = _Written.open(path, name, shown) or release_tables(
                read_file(path, shown_as=shown), name
            )
        own = [overlay[name] for overlay in self._overlays if name in overlay]
        if not own:
            return known
        tables = dict(known)
        for releases in own:
            for version, entry in releases.items():
                tables[version] = _laid_over(tables.get(version), entry)
        return tables


class _Written(Mapping[Version, Entry]):
    """The tables of a facts file as `FactsFile` writes it, each parsed when first asked for."""

    def __init__(self, path: Path, shown_as: str, parts: Mapping[str, str]) -> None:
        self._path = path
        self._shown_as = shown_as
        self._parts = parts
        """The text of each table, by the text of its version."""
        self._places = {text: f"release[{number}]" for number, text in enumerate(parts)}

    @classmethod
    def open(cls, path: Path, name: str, shown_as: str) -> _Written | None:
        """Take a file apart by the headings of its tables; None where it is not of that form."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        head, *parts = text.split("\n[[release]]\n")
        if head != f'package = "{name}"\n' or "'''" in text or '"""' in text:
            return None  # a text of several lines could hold what looks like a heading
        found = {}
        for part in parts:
            first, _, _ = part.partition("\n")
            if not first.startswith(_VERSION):
                return None
            found[first[len(_VERSION) : -1]] = part
        return cls(path, shown_as, found) if len(found) == len(parts) else None

    def __getitem__(self, version: Version) -> Entry:
        text = str(version)
        return self._entry(text if text in self._parts else self._texts[version])

    def __iter__(self) -> Iterator[Version]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._parts)

    def telling(self, key: str) -> Iterator[Entry]:
        """The tables in which a list of that name stands that no table before them has."""
        seen: set[str] = set()
        for text, part in self._parts.items():
            lists = {rest.partition("]")[0] for rest in part.split(f"\n{key} = [")[1:]}
            if not lists <= seen:
                seen |= lists
                yield self._entry(text)

    @cached_property
    def _texts(self) -> Mapping[Version, str]:
        return {version: text for text in self._parts if (version := _version(text)) is not None}

    def _entry(self, text: str) -> Entry:
        try:
            (data,) = rtoml.loads(f"[[release]]\n{self._parts[text]}")["release"]
        except rtoml.TomlParsingError:
            read_file(self._path, shown_as=self._shown_as)  # which says where it is wrong
            raise
        return Entry(data, self._shown_as, self._places[text])


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
