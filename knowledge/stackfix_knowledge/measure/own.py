"""Measuring into a file of one's own, which a project lays over the shipped facts."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from packaging.version import Version

from stackfix_knowledge.measure.errors import MeasureError
from stackfix_knowledge.measure.facts import FactsFile, Table, write_whole

__all__ = ["measuring_into"]

_LARGEST = 64 * 1024 * 1024


@contextmanager
def measuring_into(file: Path, packages: Iterable[str], shipped: Path) -> Iterator[Path]:
    """A folder to measure packages into; afterwards `file` holds what `shipped` does not.

    The folder starts with what both know, so that none of it is measured again. `file` is written
    also where measuring ends early, with what was measured until then. It is an overlay for
    `[tool.stackfix] knowledge`. Raises MeasureError where it exists and holds anything but
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
            raise MeasureError(str(file), None, f"at most {_LARGEST:,} bytes")
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        entries = [data] if "package" in data else data.get("wheels", [])
        only = set(data) <= ({"package", "release"} if "package" in data else {"wheels"})
        own = {str(entry["package"]): _releases(entry) for entry in entries}
    except OSError as error:
        raise MeasureError(str(file), None, f"a readable file ({error.strerror})") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MeasureError(str(file), None, f"a file of facts about wheels ({error})") from error
    if not only:
        raise MeasureError(
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
