"""A local package's pyproject.toml, made static where only a build could tell its metadata."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stackfix_index.names import normalized
from stackfix_lockfiles import toml
from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.packages import LockedPackage, SourceKind
from stackfix_lockfiles.scratch.known import STAND_IN, written

__all__ = ["Static", "make_static"]

_READ_BY_UV = ("version", "dependencies", "optional-dependencies", "requires-python")


@dataclass(frozen=True, slots=True, kw_only=True)
class Static:
    """The pyproject.toml for the scratch copy."""

    name: str
    data: bytes
    unversioned: bool
    """Whether the version is a stand-in that must not stay in the lock."""
    unknown: bool
    """Whether dependencies are dynamic and no lock recorded them."""
    dynamic: bool = True
    """Whether anything in it was dynamic, so that uv would build the package itself."""


def make_static(
    folder: Path, data: bytes | None, entry: LockedPackage | None, lock: Lock | None
) -> Static | None:
    """The folder's pyproject.toml (or `data` in its place) such that uv reads it without a build.

    A static one is returned byte for byte. What is dynamic is taken from `entry`, the package in
    the old lock. None: the folder has neither a pyproject.toml nor a lock's entry.

    Raises:
        InputError: the file is no valid TOML.
    """
    path = folder / "pyproject.toml"
    if data is None:
        data = toml.read_bytes(path) if path.is_file() else b""
    document = toml.parse(data, path) if data.strip() else {}
    project = document.get("project")
    if not isinstance(project, dict):
        return _from_lock(document, data, entry)
    name = str(normalized(str(project.get("name", ""))))
    dynamic = project.get("dynamic", [])
    needed = [key for key in _READ_BY_UV if key in dynamic] if isinstance(dynamic, list) else []
    if not needed:
        return Static(name=name, data=data, unversioned=False, unknown=False, dynamic=False)
    project["dynamic"] = [key for key in dynamic if key not in needed]
    if "version" in needed:
        project["version"] = (entry.version if entry else None) or STAND_IN
    if "requires-python" in needed and lock is not None:
        project["requires-python"] = lock.requires_python
    unknown = False
    if "dependencies" in needed or "optional-dependencies" in needed:
        unknown = entry is None or entry.metadata is None
        if entry is not None:
            _fill(document, project, entry, needed)
    return Static(
        name=name, data=_dumps(document), unversioned="version" in needed, unknown=unknown
    )


def _from_lock(document: dict[str, Any], data: bytes, entry: LockedPackage | None) -> Static | None:
    """A folder with a setup.py only, or with another tool's tables: all comes from the lock."""
    if entry is None or entry.is_member:
        # A workspace root may have no project; anything else uv must refuse by itself.
        if not data:
            return None
        return Static(name="", data=data, unversioned=False, unknown=False, dynamic=False)
    project: dict[str, Any] = {"name": entry.name, "version": entry.version or STAND_IN}
    document["project"] = project
    if entry.source.kind is not SourceKind.VIRTUAL:
        document.setdefault("build-system", {"requires": ["setuptools"]})
    _fill(document, project, entry, ["dependencies", "optional-dependencies"])
    return Static(
        name=entry.name,
        data=_dumps(document),
        unversioned=entry.version is None,
        unknown=entry.metadata is None and bool(entry.dependencies),
    )


def _fill(
    document: dict[str, Any], project: dict[str, Any], entry: LockedPackage, needed: list[str]
) -> None:
    """Write the recorded requirements; those of extras keep their `extra == …` marker."""
    if entry.metadata is None:
        return
    sourced = {
        normalized(name) for name in document.get("tool", {}).get("uv", {}).get("sources", {})
    }
    plain: list[str] = []
    optional: list[str] = []
    for requirement in entry.metadata.requires_dist:
        of_extra = requirement.marker is not None and "extra ==" in requirement.marker
        (optional if of_extra else plain).append(written(requirement, sourced))
    if "dependencies" not in needed:
        plain = list(project.get("dependencies", []))
    if "optional-dependencies" in needed:
        project["optional-dependencies"] = {name: [] for name in entry.metadata.provides_extras}
        plain += optional
    project["dependencies"] = plain


def _dumps(document: dict[str, Any]) -> bytes:
    import rtoml

    return rtoml.dumps(document).encode()
