"""A requirements.txt in which every line is pinned, as `uv pip compile` and pip-tools write it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from stackfix.audit.inputs.flat import FlatLock, FlatPackage
from stackfix_lockfiles import toml
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.lock import LockedPackage, Source, SourceKind
from stackfix_lockfiles.requirement import read_requirement

__all__ = ["parse_requirements"]

_HASH = re.compile(r"--hash[= ](\w+:[0-9a-fA-F]+)")
_OPTION = re.compile(r"\s--\S+")
_PIN = re.compile(r"={2,3}([^,*]+)")
_COMMENT = re.compile(r"(^|\s)#.*$")
_MOST = 100_000


def parse_requirements(data: bytes, name: str) -> FlatLock:
    """Read a pinned requirements.txt.

    Options that name an index count; `-r` and `-c` do not follow other files. Raises InputError for
    a requirement without `==`: what it installs is not known before it is installed.
    """
    if not data.strip():
        raise InputError(name, "expected pinned requirements, found an empty file")
    index = ""
    entries: list[FlatPackage] = []
    for number, line in _lines(toml.decode(data, name, what="requirements")):
        if line.startswith("-"):
            option, _, value = line.replace("=", " ", 1).partition(" ")
            if option in ("-i", "--index-url"):
                index = value.strip()
            continue
        if len(entries) >= _MOST:
            raise InputError(name, f"expected at most {_MOST:,} requirements, found more")
        entries.append(_entry(line, number, index, name))
    # With hashes pip takes nothing that is not listed.
    hashed = all(entry.locked.raw["hashes"] for entry in entries)
    return FlatLock(
        name=name, requires_python=">=3.8", entries=tuple(entries), open_ended=not hashed
    )


def _entry(line: str, number: int, index: str, name: str) -> FlatPackage:
    text = _OPTION.split(line, maxsplit=1)[0].strip()
    found = read_requirement(text)
    if found is None:
        raise InputError(name, f"expected a requirement, found {text[:80]!r}", line=number)
    pin = _PIN.fullmatch(found.specifier)
    if pin is None and found.url is None:
        expected = f"expected a pinned requirement such as {found.name}==1.2.3, found {text[:80]!r}"
        raise InputError(name, expected, line=number)
    kind = SourceKind.REGISTRY if found.url is None else SourceKind.URL
    locked = LockedPackage(
        name=found.name,
        version=pin[1] if pin else None,
        source=Source(kind, index if found.url is None else found.url),
        raw={"hashes": _HASH.findall(line)},
    )
    return FlatPackage(locked=locked, line=number, marker=found.marker)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Logical lines, with the number of their first physical one."""
    begun, parts = 0, list[str]()
    for number, raw in enumerate(text.splitlines(), 1):
        line = _COMMENT.sub("", raw).rstrip()
        begun = begun or number
        parts.append(line.removesuffix("\\"))
        if line.endswith("\\"):
            continue
        whole = " ".join(parts).strip()
        if whole:
            yield begun, whole
        begun, parts = 0, []
    if whole := " ".join(parts).strip():
        yield begun, whole
