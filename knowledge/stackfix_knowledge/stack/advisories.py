"""Known bugs: which versions have them, on which machines, and what helps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix_knowledge.evidence import Evidence, FactSeverity
from stackfix_knowledge.hardware import ComputeCapability, DriverVersion
from stackfix_knowledge.reader import Entry, Rows, Sources, facts_folder, read_facts

__all__ = [
    "Advisory",
    "AdvisoryTable",
    "Conditions",
    "VersionRange",
    "Workaround",
    "WorkaroundKind",
    "parse_advisories",
]


class WorkaroundKind(StrEnum):
    """What one has to do for a workaround."""

    ENV = "env"
    """Set environment variables."""
    SETTING = "setting"
    """Change the machine, the container or the program's own settings."""
    PIN = "pin"
    """Use another version."""


class Workaround(NamedTuple):
    """What helps where the fixed version cannot be had."""

    kind: WorkaroundKind
    text: str
    """What to do, in one sentence."""
    environment: Mapping[str, str] = {}
    """The variables to set, for kind ENV."""


class VersionRange(NamedTuple):
    """Affected versions from one end to the other, as OSV has them."""

    introduced: Version | None
    """The first affected version; None: from the start."""
    fixed: Version | None = None
    """The first version without the bug."""
    last_affected: Version | None = None
    """The last version known to have it, where no fixed one is known."""

    def holds(self, version: Version) -> bool:
        """Whether `version` lies in the range; its local part does not count."""
        public = _public(version)
        if self.introduced is not None and public < self.introduced:
            return False
        if self.fixed is not None and public >= self.fixed:
            return False
        return self.last_affected is None or public <= self.last_affected


class Conditions(NamedTuple):
    """On which machines, and beside which packages, a bug shows."""

    min_gpus: int = 1
    capabilities: frozenset[ComputeCapability] = frozenset()
    """Cards that it concerns; empty: all."""
    platforms: tuple[str, ...] = ()
    """Platforms that it concerns; empty: all."""
    segments: tuple[str, ...] = ()
    """Kinds of cards that it concerns ("geforce"); empty: all."""
    driver_from: DriverVersion | None = None
    driver_below: DriverVersion | None = None
    beside: Mapping[str, SpecifierSet] = {}
    """Packages that must be installed too, in one of these versions."""
    without: tuple[str, ...] = ()
    """Packages that must not be installed."""
    unobservable: tuple[str, ...] = ()
    """Further conditions, in words, that cannot be seen from the stack and the card."""

    def met(
        self,
        *,
        capability: ComputeCapability,
        count: int,
        platform: str,
        segment: str | None,
        driver: DriverVersion | None,
        installed: Mapping[str, Version],
    ) -> bool | None:
        """True: all hold. False: one does not. None: it depends on what nobody can see here."""
        devices = {known.device for known in self.capabilities}
        if (
            count < self.min_gpus
            or (devices and capability.device not in devices)
            or (self.platforms and platform not in self.platforms)
            or (self.segments and segment is not None and segment not in self.segments)
            or not all(self._beside(name, installed) for name in self.beside)
            or any(name in installed for name in self.without)
        ):
            return False
        if driver is not None and not self._driver(driver):
            return False
        unsure_of_driver = driver is None and (self.driver_from or self.driver_below) is not None
        unsure_of_segment = bool(self.segments) and segment is None
        return None if self.unobservable or unsure_of_driver or unsure_of_segment else True

    def _beside(self, name: str, installed: Mapping[str, Version]) -> bool:
        version = installed.get(name)
        return version is not None and self.beside[name].contains(version, prereleases=True)

    def _driver(self, driver: DriverVersion) -> bool:
        if self.driver_from is not None and driver < self.driver_from:
            return False
        return self.driver_below is None or driver < self.driver_below


class Advisory(NamedTuple):
    """One known bug or change of behaviour."""

    id: str
    packages: tuple[str, ...]
    ranges: tuple[VersionRange, ...]
    versions: tuple[Version, ...]
    """Affected versions one by one, beside the ranges."""
    conditions: Conditions
    severity: FactSeverity
    summary: str
    """One line."""
    effect: str
    """What the user sees."""
    workaround: Workaround | None
    evidence: tuple[Evidence, ...]

    def affects(self, version: Version) -> bool:
        """Whether this version of one of its packages has the bug.

        A version without a local part stands for its builds on every index.
        """
        return (
            version in self.versions
            or _public(version) in self.versions
            or any(affected.holds(version) for affected in self.ranges)
        )


def _public(version: Version) -> Version:
    return version if version.local is None else Version(version.public)


class AdvisoryTable:
    """All advisories, by package."""

    def __init__(self, files: Iterable[Rows[Advisory]], own: Iterable[Advisory] = ()) -> None:
        self._files = tuple(files)
        self._own = tuple(own)

    @classmethod
    def load(cls, own: Iterable[Advisory] = ()) -> AdvisoryTable:
        """The shipped advisories, and a project's own."""
        names = sorted(path.name for path in (facts_folder() / "advisories").glob("*.toml"))
        return cls([_rows(read_facts(f"advisories/{name}"), "advisory") for name in names], own)

    def __iter__(self) -> Iterator[Advisory]:
        return chain(*self._files, self._own)

    def of(self, package: str) -> tuple[Advisory, ...]:
        """The advisories about this package."""
        return (
            *(advisory for file in self._files for advisory in file.about(package)),
            *(advisory for advisory in self._own if package in advisory.packages),
        )


def parse_advisories(file: Entry, key: str) -> Iterator[Advisory]:
    """Read the advisories under `key` of a facts file. Raises FactsError."""
    yield from _rows(file, key)


def _rows(file: Entry, key: str) -> Rows[Advisory]:
    sources = file.sources()
    return Rows(file.entries(key), "packages", lambda entry: [_advisory(entry, sources)])


def _advisory(entry: Entry, sources: Sources) -> Advisory:
    entry.only(
        "id", "packages", "ranges", "versions", "conditions", "severity", "summary",
        "effect", "workaround", "source",
    )  # fmt: skip
    ranges = tuple(_range(item) for item in entry.entries("ranges"))
    versions = entry.versions("versions")
    if not ranges and not versions:
        raise entry.fault("ranges", "ranges or versions: something must be affected")
    if not entry.texts("packages"):
        raise entry.fault("packages", "at least one package")
    return Advisory(
        id=entry.text("id"),
        packages=entry.texts("packages"),
        ranges=ranges,
        versions=versions,
        conditions=_conditions(entry.entry("conditions")),
        severity=entry.choice("severity", FactSeverity),
        summary=entry.text("summary"),
        effect=entry.text("effect"),
        workaround=_workaround(entry.entry("workaround")) if "workaround" in entry else None,
        evidence=entry.evidence(sources),
    )


def _range(entry: Entry) -> VersionRange:
    entry.only("introduced", "fixed", "last-affected")
    introduced = None if entry.text("introduced") == "0" else entry.version("introduced")
    found = VersionRange(
        introduced=introduced,
        fixed=entry.optional_version("fixed"),
        last_affected=entry.optional_version("last-affected"),
    )
    for key, end in (("fixed", found.fixed), ("last-affected", found.last_affected)):
        if introduced is not None and end is not None and end < introduced:
            raise entry.fault(key, f"a version not below {introduced}")
    return found


def _conditions(entry: Entry) -> Conditions:
    entry.only(
        "min-gpus", "capabilities", "platforms", "segments", "driver-from", "driver-below",
        "beside", "without", "unobservable",
    )  # fmt: skip
    beside = entry.entry("beside")
    return Conditions(
        min_gpus=entry.optional_integer("min-gpus") or 1,
        capabilities=entry.capabilities("capabilities"),
        platforms=entry.texts("platforms"),
        segments=entry.texts("segments"),
        driver_from=entry.driver("driver-from"),
        driver_below=entry.driver("driver-below"),
        beside={name: beside.specifiers(name) for name in beside.data},
        without=entry.texts("without"),
        unobservable=entry.texts("unobservable"),
    )


def _workaround(entry: Entry) -> Workaround:
    entry.only("kind", "text", "environment")
    environment = entry.entry("environment")
    return Workaround(
        kind=entry.choice("kind", WorkaroundKind),
        text=entry.text("text"),
        environment={name: environment.text(name) for name in environment.data},
    )
