"""Typed access to TOML facts, with the path of a fault in the error.

Every table of the graph is read through `Entry`. A wrong fact is reported in one line that names
the file, the place in it and what was expected there, whether the file is our own or a project's.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import rtoml
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from stackfix_knowledge.errors import KnowledgeError
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.hardware import ComputeCapability, DriverVersion

__all__ = ["Entry", "FactsError", "Rows", "Sources", "facts_folder", "read_facts", "read_file"]

Parsed = TypeVar("Parsed")
Choice = TypeVar("Choice", bound=StrEnum)
Row = TypeVar("Row")

MAX_BYTES = 64 << 20
"""No facts file is larger; a project's own that is larger is not read at all."""


class FactsError(KnowledgeError):
    """A facts file that cannot be used. `str()` is the one line to show."""

    def __init__(self, file: str, place: str, expected: str) -> None:
        self.file = file
        """The file at fault, as the user knows it."""
        self.place = place
        """Where in it ("gpus[3].capability"); empty for the file as a whole."""
        self.expected = expected
        """What should be there."""
        where = f"{file}: {place}" if place else file
        super().__init__(f"{where}: expected {expected}")


def facts_folder() -> Path:
    """The folder of the facts that ship with the program."""
    return Path(__file__).parent / "facts"


def read_facts(name: str) -> Entry:
    """Read one of the shipped facts files, `name` relative to the facts folder."""
    return read_file(facts_folder() / name, shown_as=name)


def read_file(path: Path, *, shown_as: str | None = None) -> Entry:
    """Read a TOML file. Raises FactsError if it cannot be read or is not TOML."""
    shown = shown_as or str(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FactsError(shown, "", f"a file of at most {MAX_BYTES >> 20} MiB")
        data = rtoml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FactsError(shown, "", f"a readable file ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise FactsError(shown, "", "UTF-8 text") from error
    except rtoml.TomlParsingError as error:
        reason = " ".join(str(error).split())
        raise FactsError(shown, "", f"valid TOML ({reason})") from error
    return Entry(data, shown)


class Entry:
    """One TOML table: its values by key, typed and checked."""

    __slots__ = ("data", "file", "place")

    def __init__(self, data: Mapping[str, Any], file: str, place: str = "") -> None:
        self.data = data
        self.file = file
        self.place = place

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def fault(self, key: str, expected: str) -> FactsError:
        """The error for this key, ready to be raised."""
        return FactsError(self.file, self._at(key), expected)

    def only(self, *keys: str) -> None:
        """Refuse any other key: a misspelt key would otherwise be a fact silently lost."""
        for key in self.data:
            if key not in keys:
                raise self.fault(key, f"one of the keys {', '.join(sorted(keys))}")

    def text(self, key: str) -> str:
        value = self.data.get(key)
        if not isinstance(value, str) or not value:
            raise self.fault(key, "a text")
        return value

    def optional_text(self, key: str) -> str | None:
        return self.text(key) if key in self.data else None

    def date(self, key: str) -> str | None:
        """A date as "2026-11-30", from a TOML date or such a text; None if absent or empty."""
        value = self.data.get(key)
        if value is None or value == "":
            return None
        if isinstance(value, datetime.date):
            return value.isoformat()
        if isinstance(value, str) and _is_date(value):
            return value
        raise self.fault(key, 'a date such as "2026-11-30"')

    def integer(self, key: str) -> int:
        value = self.data.get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.fault(key, "a whole number")
        return value

    def optional_integer(self, key: str) -> int | None:
        return self.integer(key) if key in self.data else None

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.data.get(key, default)
        if not isinstance(value, bool):
            raise self.fault(key, "true or false")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; a single text counts as a list of one; empty if absent."""
        value = self.data.get(key, ())
        if isinstance(value, str):
            value = (value,)
        if not isinstance(value, list | tuple):
            raise self.fault(key, "a list of texts")
        for index, item in enumerate(value):
            if not isinstance(item, str):
                raise self.fault(f"{key}[{index}]", "a text")
        return tuple(value)

    def choice(self, key: str, kind: type[Choice]) -> Choice:
        """One of the values of an enumeration."""
        try:
            return kind(self.text(key))
        except ValueError:
            raise self.fault(key, f"one of {', '.join(kind)}") from None

    def optional_choice(self, key: str, kind: type[Choice]) -> Choice | None:
        return self.choice(key, kind) if key in self.data else None

    def choices(self, key: str, kind: type[Choice]) -> frozenset[Choice]:
        """Several of them; empty if absent."""
        try:
            return frozenset(map(kind, self.texts(key)))
        except ValueError:
            raise self.fault(key, f"some of {', '.join(kind)}") from None

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.fault(key, "a table")
        return value

    def entry(self, key: str) -> Entry:
        """The table under `key`; an empty one if absent."""
        return Entry(self.mapping(key), self.file, self._at(key))

    def entries(self, key: str) -> Iterator[Entry]:
        """The tables of the array under `key`; none if absent."""
        value = self.data.get(key, [])
        if not isinstance(value, list):
            raise self.fault(key, "a list of tables")
        for index, item in enumerate(value):
            if not isinstance(item, dict):
                raise self.fault(f"{key}[{index}]", "a table")
            yield Entry(item, self.file, self._at(f"{key}[{index}]"))

    def capability(self, key: str) -> ComputeCapability:
        return self._parsed(key, self.text(key), _capability, 'a compute capability such as "12.0"')

    def capabilities(self, key: str) -> frozenset[ComputeCapability]:
        return frozenset(
            self._parsed(f"{key}[{index}]", item, _capability, 'a compute capability like "12.0"')
            for index, item in enumerate(self.texts(key))
        )

    def version(self, key: str) -> Version:
        return self._parsed(key, self.text(key), _version, 'a version such as "9.5.1.17"')

    def optional_version(self, key: str) -> Version | None:
        return self.version(key) if key in self.data else None

    def versions(self, key: str) -> tuple[Version, ...]:
        return tuple(
            self._parsed(f"{key}[{index}]", item, _version, 'a version such as "9.5.1.17"')
            for index, item in enumerate(self.texts(key))
        )

    def specifiers(self, key: str) -> SpecifierSet:
        """Version specifiers; the empty text admits every version."""
        value = self.data.get(key, "")
        if not isinstance(value, str):
            raise self.fault(key, 'version specifiers such as ">=2.7,<2.8"')
        return self._parsed(key, value, _specifiers, 'version specifiers such as ">=2.7,<2.8"')

    def optional_specifiers(self, key: str) -> SpecifierSet | None:
        return self.specifiers(key) if key in self.data else None

    def pattern(self, key: str) -> re.Pattern[str]:
        """A regular expression."""
        return self._compiled(key, self.text(key))

    def patterns(self, key: str) -> tuple[re.Pattern[str], ...]:
        return tuple(
            self._compiled(f"{key}[{index}]", item) for index, item in enumerate(self.texts(key))
        )

    def driver(self, key: str) -> DriverVersion | None:
        """A driver version; None if absent."""
        if key not in self.data:
            return None
        return self._parsed(key, self.text(key), DriverVersion, 'a driver such as "570.133.07"')

    def sources(self) -> Sources:
        """The `[sources.NAME]` tables of a file: evidence by name, for `evidence` to refer to."""
        return Sources(self.entry("sources"))

    def evidence(self, sources: Sources) -> tuple[Evidence, ...]:
        """What `source` names, in order. Raises if it names nothing: no evidence, no fact."""
        names = self.texts("source")
        if not names:
            raise self.fault("source", "the name of at least one of the file's sources")
        for name in names:
            if name not in sources:
                raise self.fault("source", f"a name under [sources], not {name!r}")
        return tuple(sources[name] for name in names)

    def as_evidence(self) -> Evidence:
        """Read this table itself as one piece of evidence."""
        self.only("kind", "where", "date", "sha256", "words", "confirmed")
        return Evidence(
            kind=self.choice("kind", EvidenceKind),
            source=self.text("where"),
            date=self.date("date"),
            sha256=self.optional_text("sha256"),
            words=self.optional_text("words"),
            confirmed=self.flag("confirmed") if "confirmed" in self.data else None,
        )

    def _compiled(self, key: str, text: str) -> re.Pattern[str]:
        try:
            return re.compile(text)
        except re.error as error:
            raise self.fault(key, f"a regular expression ({error})") from error

    def _at(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key

    def _parsed(self, key: str, text: str, parse: Callable[[str], Parsed], expected: str) -> Parsed:
        try:
            return parse(text)
        except ValueError as error:
            raise self.fault(key, f"{expected}, not {text!r}") from error


class Sources(Mapping[str, Evidence]):
    """The evidence that a file names, each piece read when it is first asked for."""

    def __init__(self, table: Entry) -> None:
        self._table = table
        self._read: dict[str, Evidence] = {}

    def __getitem__(self, name: str) -> Evidence:
        if name not in self._read:
            if name not in self._table.data:
                raise KeyError(name)
            self._read[name] = self._table.entry(name).as_evidence()
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._table.data

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.data)

    def __len__(self) -> int:
        return len(self._table.data)


class Rows(Generic[Row]):
    """What the tables of an array say, found by what they are about, read when first asked for.

    One command asks about the packages of one lock, a small part of all that is known.
    """

    def __init__(
        self, entries: Iterable[Entry], about: str, read: Callable[[Entry], Iterable[Row]]
    ) -> None:
        """`about`: the key of a table under which stands, or stand, what it is about."""
        self._entries = tuple(entries)
        self._reader = read
        self._read: dict[int, tuple[Row, ...]] = {}
        self._numbers: dict[str, list[int]] = {}
        for number, entry in enumerate(self._entries):
            for name in entry.texts(about):
                self._numbers.setdefault(name, []).append(number)

    def __iter__(self) -> Iterator[Row]:
        for number in range(len(self._entries)):
            yield from self._rows(number)

    def about(self, name: str) -> Iterator[Row]:
        """What the tables about `name` say, in their order. Raises FactsError."""
        for number in self._numbers.get(name, ()):
            yield from self._rows(number)

    def _rows(self, number: int) -> tuple[Row, ...]:
        if number not in self._read:
            self._read[number] = tuple(self._reader(self._entries[number]))
        return self._read[number]


def _is_date(text: str) -> bool:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        return False
    return True


@cache
def _capability(text: str) -> ComputeCapability:
    return ComputeCapability.parse(text)


@cache
def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion as error:
        raise ValueError(text) from error


@cache
def _specifiers(text: str) -> SpecifierSet:
    try:
        return SpecifierSet(text)
    except InvalidSpecifier as error:
        raise ValueError(text) from error
