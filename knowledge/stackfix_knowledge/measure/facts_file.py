"""Files of facts about wheels: read back, merged with what was measured, written.

They are written in one stable order, so that a second measurement changes only what it learned.
A project's own file holds what those that ship with the program do not.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from packaging.version import Version

from stackfix_index.errors import Unreadable
from stackfix_knowledge.evidence import EvidenceKind
from stackfix_knowledge.wheels.coverage import LibraryCoverage
from stackfix_knowledge.wheels.release import PLATFORMS, WheelFact

__all__ = ["FactsFile", "Table", "measuring_into", "write_whole"]

Table = dict[str, Any]

_WHEEL_KEYS = (
    "file", "sha256", "platform", "cuda", "cpu-only", "requires-python", "requires",
    "metadata-date", "built-against", "needs", "collides", "measured", "ptxas",
)  # fmt: skip


class FactsFile:
    """``facts/wheels/<package>.toml``."""

    def __init__(self, folder: Path, package: str) -> None:
        """Read the file where there is one; raise Unreadable where it is no such file."""
        self.path = folder / f"{package}.toml"
        self.package = package
        self._releases: dict[Version, Table] = {}
        if self.path.exists():
            self._read()

    def depth(self, version: Version, platform: str, file: str) -> EvidenceKind | None:
        """How deep a wheel was read already; None for not at all, or another file."""
        wheel = self._wheel(version, platform)
        if wheel is None or wheel.get("file") != file:
            return None
        return EvidenceKind.MEASURED if "measured" in wheel else EvidenceKind.METADATA

    def release(self, version: Version, *, date: str, yanked: bool) -> None:
        """Note a release, with or without wheels."""
        table = self._releases.setdefault(version, {"wheel": []})
        table.update(version=str(version), date=date, yanked=yanked)

    def merge(self, version: Version, fact: WheelFact, *, collides: Iterable[str] = ()) -> None:
        """Replace what is known of a wheel of a noted release."""
        wheels = self._releases[version]["wheel"]
        wheels[:] = [wheel for wheel in wheels if wheel["platform"] != fact.platform]
        wheels.append(_as_table(fact, collides))
        wheels.sort(key=lambda wheel: PLATFORMS.index(wheel["platform"]))

    def requires(self, version: Version, platform: str) -> tuple[str, ...] | None:
        """The Requires-Dist lines known of a wheel."""
        wheel = self._wheel(version, platform)
        return None if wheel is None else wheel.get("requires")

    def tables(self) -> Mapping[Version, Table]:
        """The `release` tables as they stand in the file, by version."""
        return self._releases

    def lay(self, tables: Mapping[Version, Table]) -> None:
        """Lay other `release` tables over these: their wheels replace those of the platform."""
        for version, table in tables.items():
            wheels = {wheel["platform"]: wheel for wheel in table.get("wheel", [])}
            known = self._releases.setdefault(version, {"wheel": []})
            kept = [wheel for wheel in known["wheel"] if wheel["platform"] not in wheels]
            both = sorted([*kept, *wheels.values()], key=lambda w: PLATFORMS.index(w["platform"]))
            self._releases[version] = {**known, **table, "wheel": both}

    def write(self) -> None:
        """Write the file, whole or not at all."""
        write_whole(self.path, self.text())

    def text(self) -> str:
        """The file as it is written."""
        return "".join((f"package = {_text(self.package)}\n", *self.lines()))

    def _wheel(self, version: Version, platform: str) -> Table | None:
        wheels: list[Table] = self._releases.get(version, {}).get("wheel", [])
        return next((wheel for wheel in wheels if wheel["platform"] == platform), None)

    def _read(self) -> None:
        try:
            data = tomllib.loads(self.path.read_text(encoding="utf-8"))
            for release in data.get("release", []):
                release.setdefault("wheel", [])
                self._releases[Version(release["version"])] = release
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Unreadable(str(self.path), None, f"a facts file ({error})") from error

    def lines(self, at: str = "release") -> Iterator[str]:
        """The releases as TOML, in tables of the name `at`."""
        for _, release in sorted(self._releases.items()):
            yield f"\n[[{at}]]\n"
            for key in ("version", "date", "yanked", "index"):
                if key in release:
                    yield f"{key} = {_value(release[key])}\n"
            for wheel in release["wheel"]:
                yield f"\n[[{at}.wheel]]\n"
                for key in _WHEEL_KEYS:
                    read = key == "requires" and "metadata-date" in wheel
                    if read or wheel.get(key) not in (None, [], {}):
                        yield f"{key} = {_value(wheel.get(key, []))}\n"
                for library in wheel.get("library", []):
                    yield f"\n[[{at}.wheel.library]]\n"
                    yield f"name = {_text(library['name'])}\n"
                    yield f"[{at}.wheel.library.containers]\n"
                    for images, count in library["containers"].items():
                        yield f"{_text(images)} = {count}\n"


def write_whole(path: Path, text: str) -> None:
    """Write a file, whole or not at all; its folder is made where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _as_table(fact: WheelFact, collides: Iterable[str]) -> Table:
    dates = {evidence.kind: evidence.date for evidence in fact.evidence}
    table: Table = {
        "file": fact.file,
        "sha256": fact.sha256,
        "platform": fact.platform,
        "cuda": str(fact.cuda) if fact.cuda else None,
        "cpu-only": fact.cpu_only or None,
        "requires-python": fact.requires_python,
        "requires": list(fact.requires or ()),
        "metadata-date": _date(dates.get(EvidenceKind.METADATA)),
        "built-against": {name: str(built) for name, built in sorted(fact.built_against.items())},
        "needs": list(fact.needs),
        "collides": sorted(collides),
        "measured": _date(dates.get(EvidenceKind.MEASURED)),
        "ptxas": [{"cuda": p.cuda, "targets": list(p.targets)} for p in fact.ptxas],
    }
    if fact.coverage is not None:
        table["library"] = [_library(library) for library in fact.coverage.libraries]
    return table


def _library(library: LibraryCoverage) -> Table:
    rows = sorted((sorted(images), count) for images, count in library.containers.items())
    return {
        "name": library.name,
        "containers": {" ".join(map(str, images)): count for images, count in rows},
    }


def _date(text: str | None) -> datetime.date | None:
    return datetime.date.fromisoformat(text) if text else None


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case datetime.date():
            return value.isoformat()
        case str():
            return _text(value)
        case Mapping():
            pairs = (f"{_key(str(key))} = {_value(item)}" for key, item in value.items())
            return f"{{ {', '.join(pairs)} }}"
        case list() if value and len(value) > 1:
            return "[\n" + "".join(f"  {_value(item)},\n" for item in value) + "]"
        case list():
            return f"[{', '.join(_value(item) for item in value)}]"
    raise TypeError(f"no facts file holds a {type(value).__name__}")


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(text: str) -> str:
    """A TOML string; JSON's escapes are a subset of TOML's, but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_LARGEST = 64 * 1024 * 1024


@contextmanager
def measuring_into(file: Path, packages: Iterable[str], shipped: Path) -> Iterator[Path]:
    """A folder to measure packages into; afterwards `file` holds what `shipped` does not.

    The folder starts with what both know, so that none of it is measured again. `file` is written
    also where measuring ends early, with what was measured until then. It is an overlay for
    `[tool.stackfix] knowledge`. Raises Unreadable where it exists and holds anything but
    facts about wheels, since those would be lost.
    """
    own = _read(file)
    with tempfile.TemporaryDirectory(prefix="stackfix-facts-") as name:
        folder = Path(name)
        for package in packages:
            facts = FactsFile(folder, package)
            facts.lay(FactsFile(shipped, package).tables())
            facts.lay(own.get(package, {}))
            facts.write()
        try:
            yield folder
        finally:
            for package in packages:
                known = FactsFile(shipped, package).tables()
                own[package] = _beyond(known, FactsFile(folder, package).tables())
            _write(file, own)


def _read(file: Path) -> dict[str, dict[Version, Table]]:
    if not file.exists():
        return {}
    try:
        if file.stat().st_size > _LARGEST:
            raise Unreadable(str(file), None, f"at most {_LARGEST:,} bytes")
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        entries = [data] if "package" in data else data.get("wheels", [])
        only = set(data) <= ({"package", "release"} if "package" in data else {"wheels"})
        own = {str(entry["package"]): _releases(entry) for entry in entries}
    except OSError as error:
        raise Unreadable(str(file), None, f"a readable file ({error.strerror})") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(str(file), None, f"a file of facts about wheels ({error})") from error
    if not only:
        raise Unreadable(
            str(file), None, "facts about wheels alone: measuring writes the file anew"
        )
    return own


def _releases(entry: Mapping[str, Any]) -> dict[Version, Table]:
    releases = {}
    for release in entry.get("release", []):
        releases[Version(release["version"])] = {**release, "wheel": release.get("wheel", [])}
    return releases


def _beyond(known: Mapping[Version, Table], found: Mapping[Version, Table]) -> dict[Version, Table]:
    """The releases of `found` with the wheels that `known` has not, or not so."""
    beyond = {}
    for version, release in found.items():
        before = known.get(version, {}).get("wheel", [])
        if wheels := [wheel for wheel in release["wheel"] if wheel not in before]:
            beyond[version] = {**release, "wheel": wheels}
    return beyond


def _write(file: Path, own: Mapping[str, Mapping[Version, Table]]) -> None:
    lines = ["# Facts about wheels, as `stackfix knowledge measure --into` writes them.\n"]
    for package, releases in sorted(own.items()):
        if releases:
            facts = FactsFile(Path("nowhere"), package)
            facts.lay(releases)
            lines += [f'\n[[wheels]]\npackage = "{package}"\n', *facts.lines("wheels.release")]
    if len(lines) > 1 or file.exists():
        write_whole(file, "".join(lines))
