"""A pylock.toml (PEP 751), read and validated by `packaging`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stackfix.audit.inputs.flat import FlatLock, FlatPackage
from stackfix.audit.selections import InstallChoice
from stackfix_lockfiles import toml
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import LockedFile, LockedPackage, Source, SourceKind
from stackfix_lockfiles.markers import Marker

if TYPE_CHECKING:
    from packaging.pylock import Package, PackageSdist, PackageWheel

__all__ = ["parse_pylock"]

_CHOICE = re.compile(r"""(['"])([^'"]+)\1\s+in\s+(extras|dependency_groups)""")
_NOT = re.compile(r"""(['"])([^'"]+)\1\s+not\s+in\s+(extras|dependency_groups)""")
_HEADER = re.compile(rb"^\s*\[\[\s*packages\s*\]\]", re.MULTILINE)


def parse_pylock(data: bytes, name: str) -> FlatLock:
    """Read a pylock.toml. Raises InputError with the place of the fault."""
    from packaging.pylock import Pylock, PylockValidationError

    document = toml.parse(data, name, what="a pylock.toml")
    try:
        lock = Pylock.from_dict(document)
    except PylockValidationError as error:
        raise InputError(name, f"expected a valid pylock.toml: {error}") from None
    lines = [data.count(b"\n", 0, found.end()) + 1 for found in _HEADER.finditer(data)]
    entries = tuple(
        FlatPackage(
            locked=_package(package),
            line=lines[position] if position < len(lines) else 1,
            marker=_marker(package, name, position),
        )
        for position, package in enumerate(lock.packages)
    )
    default = tuple(lock.default_groups or ())
    groups = tuple(dict.fromkeys((*(lock.dependency_groups or ()), *default)))
    plain = InstallChoice(groups=default, plain=True)
    every = InstallChoice(extras=tuple(map(str, lock.extras or ())), groups=groups)
    return FlatLock(
        name=name,
        requires_python=str(lock.requires_python or ">=3.8"),
        entries=entries,
        choices=(plain, every) if every.extras or groups != default else (plain,),
    )


def _marker(package: Package, name: str, position: int) -> Marker | None:
    """The marker, with PEP 751's choices in the form that the markers of locks have."""
    if package.marker is None:
        return None
    text = _NOT.sub(lambda m: f"extra != '{_kind(m[3])}:{m[2]}'", str(package.marker))
    text = _CHOICE.sub(lambda m: f"extra == '{_kind(m[3])}:{m[2]}'", text)
    try:
        return Marker(text)
    except ValueError as error:
        raise InputError(name, str(error), place=f"packages[{position}].marker") from None


def _kind(variable: str) -> str:
    return "extra" if variable == "extras" else "group"


def _package(package: Package) -> LockedPackage:
    if package.vcs is not None:
        source = Source(SourceKind.GIT, package.vcs.url or package.vcs.path or "")
    elif package.directory is not None:
        source = Source(SourceKind.DIRECTORY, package.directory.path)
    elif package.archive is not None:
        source = Source(SourceKind.URL, package.archive.url or package.archive.path or "")
    else:
        source = Source(SourceKind.REGISTRY, package.index or "")
    return LockedPackage(
        name=str(package.name),
        version=str(package.version) if package.version is not None else None,
        source=source,
        sdist=_file(package.sdist) if package.sdist else None,
        wheels=tuple(_file(wheel) for wheel in package.wheels or ()),
    )


def _file(file: PackageWheel | PackageSdist) -> LockedFile:
    sha256 = file.hashes.get("sha256")
    return LockedFile(
        filename=file.filename,
        url=file.url,
        path=file.path,
        hash=f"sha256:{sha256}" if sha256 else None,
        size=file.size,
    )
