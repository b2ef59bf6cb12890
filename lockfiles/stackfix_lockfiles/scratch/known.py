"""What an old lock knows about packages that uv would have to clone, download or build to read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from stackfix_lockfiles.lock import Lock
from stackfix_lockfiles.markers import Marker
from stackfix_lockfiles.packages import Dependency, LockedPackage, LockedRequirement, SourceKind

__all__ = ["Known", "known", "without_pseudo_extras", "written"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Metadata of one package, to be given to uv as `tool.uv.dependency-metadata`."""

    name: str
    version: str
    requires_dist: tuple[str, ...]
    extras: tuple[str, ...]
    source: str
    """Where the package comes from: the lock's source URL, or `sdist` for a registry's sdist."""
    kind: SourceKind
    complete: bool
    """Whether version limits are known. The lock has them for URL and path packages only."""

    def table(self) -> dict[str, Any]:
        """The entry as uv reads it."""
        table: dict[str, Any] = {
            "name": self.name,
            "version": self.version,
            "requires-dist": list(self.requires_dist),
        }
        if self.extras:
            table["provides-extra"] = list(self.extras)
        return table


STAND_IN = "0.0.0"
"""Version of a folder whose own is dynamic; the lock does not keep it."""


def known(lock: Lock, dynamic: Collection[str] = ()) -> tuple[Known, ...]:
    """One entry for each git, URL, archive-by-path and sdist-only package of the lock.

    And one for each of the `dynamic` local packages that the project names by an absolute path: uv
    reads those where they are, not in the scratch copy.

    Several packages may share name and version (one commit for each fork): uv takes one entry for
    them, so theirs are united.
    """
    found: dict[tuple[str, str], Known] = {}
    for package in lock.packages:
        absolute = package.name in dynamic and package.source.value.startswith(("/", "file:"))
        if absolute and package.source.is_local:
            package = replace(package, version=package.version or STAND_IN)
        elif package.version is None or not _needs_reading(package):
            continue
        assert package.version is not None
        entry = _entry(package, package.version)
        key = (entry.name, entry.version)
        found[key] = _united(found[key], entry) if key in found else entry
    return tuple(found.values())


def _needs_reading(package: LockedPackage) -> bool:
    kind = package.source.kind
    if kind is SourceKind.REGISTRY:
        return not package.wheels
    if kind is SourceKind.PATH:
        return not package.source.value.endswith(".whl")  # uv reads a wheel without running it
    return kind in (SourceKind.GIT, SourceKind.URL)


def _entry(package: LockedPackage, version: str) -> Known:
    if package.metadata is not None:
        texts = [written(requirement) for requirement in package.metadata.requires_dist]
        extras = package.metadata.provides_extras
    else:
        texts = list(_edges(package))
        extras = tuple(package.optional_dependencies)
    registry = package.source.kind is SourceKind.REGISTRY
    return Known(
        name=package.name,
        version=version,
        requires_dist=tuple(dict.fromkeys(texts)),
        extras=tuple(extras),
        source="sdist" if registry else package.source.value,
        kind=package.source.kind,
        complete=package.metadata is not None or not texts,
    )


def _edges(package: LockedPackage) -> Iterator[str]:
    for edge in package.dependencies:
        yield _requirement(edge, None)
    for extra, edges in package.optional_dependencies.items():
        for edge in edges:
            yield _requirement(edge, extra)


def _requirement(edge: Dependency, extra: str | None) -> str:
    extras = f"[{','.join(edge.extras)}]" if edge.extras else ""
    marker = without_pseudo_extras(edge.marker) if edge.marker else None
    if extra is not None:
        condition = f"extra == '{extra}'"
        marker = f"({marker}) and {condition}" if marker else condition
    return f"{edge.name}{extras}" + (f" ; {marker}" if marker else "")


def _united(one: Known, other: Known) -> Known:
    return Known(
        name=one.name,
        version=one.version,
        requires_dist=tuple(dict.fromkeys((*one.requires_dist, *other.requires_dist))),
        extras=tuple(dict.fromkeys((*one.extras, *other.extras))),
        source=one.source,
        kind=one.kind,
        complete=one.complete and other.complete,
    )


def written(requirement: LockedRequirement, sourced: Collection[str] = ()) -> str:
    """The PEP 508 text. Packages in `sourced` get their source from `tool.uv.sources` again."""
    source = requirement.source
    if source is None or source.is_local or requirement.name in sourced:
        return str(requirement)
    extras = f"[{','.join(requirement.extras)}]" if requirement.extras else ""
    marker = f" ; {requirement.marker}" if requirement.marker else ""
    return f"{requirement.name}{extras} @ {_reference(source.kind, source.value)}{marker}"


def _reference(kind: SourceKind, value: str) -> str:
    """A lock's source as a direct reference: `git+https://host/repo@rev#subdirectory=…`."""
    if kind is not SourceKind.GIT:
        return value
    address, _, query = value.partition("#")[0].partition("?")
    options = dict(part.partition("=")[::2] for part in query.split("&") if part)
    revision = options.get("rev") or options.get("tag") or options.get("branch")
    reference = f"git+{address}" + (f"@{revision}" if revision else "")
    folder = options.get("subdirectory")
    return reference + (f"#subdirectory={folder}" if folder else "")


_PSEUDO = re.compile(r"extra\s*[!=]=\s*['\"](?:extra|group|project)-\d+-")

_LONGEST = 50_000
"""Characters up to which a marker is taken apart; the longest of the corpus has 4,000."""

Part = tuple[str, ...] | None
"""Tokens of one operand of `and`; None when it always holds."""


def without_pseudo_extras(text: str) -> str | None:
    """The marker with every comparison of a pseudo extra taken as true; None if nothing is left.

    uv added those comparisons to tell its forks apart; the package's own metadata never has them.
    A marker has no `not`, so the result holds wherever the original does.
    """
    if "extra" not in text:
        return text
    if len(text) > _LONGEST:
        return None
    # An `or` of `and`s per nesting level; `stack` instead of recursion, as in `Marker.holds`.
    stack: list[list[list[Part]]] = [[[]]]
    for token in Marker(text).tokens:
        if token == "(":
            stack.append([[]])
        elif token == ")":
            inner = _either(stack.pop(), closed=True)
            stack[-1][-1].append(inner)
        elif token == "or":
            stack[-1].append([])
        elif token != "and":
            stack[-1][-1].append(None if _PSEUDO.match(token) else (token,))
    left = _either(stack[0], closed=False)
    return None if left is None else " ".join(left).replace("( ", "(").replace(" )", ")")


def _either(terms: list[list[Part]], *, closed: bool) -> Part:
    """The alternatives as one operand, in parentheses if `closed` and there are several."""
    joined: list[str] = []
    for term in terms:
        both = [part for part in term if part is not None]
        if not both:
            return None  # one alternative always holds
        if joined:
            joined.append("or")
        for number, part in enumerate(both):
            joined.extend(("and", *part) if number else part)
    return ("(", *joined, ")") if closed and len(terms) > 1 else tuple(joined)
