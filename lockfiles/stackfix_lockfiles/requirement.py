"""A requirement: what its text says, and where the user wrote it.

`packaging` reads one in a tenth of a millisecond and takes longer to load than a gate takes for a
lock, so that texts are read by one pattern here, and by `packaging` where its objects are needed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix_index.names import normalized
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.markers import Marker, Truths

if TYPE_CHECKING:
    from packaging.requirements import Requirement

__all__ = [
    "DeclaredRequirement",
    "IncludedGroup",
    "RequirementLine",
    "full_requirement",
    "parse_requirement",
    "read_requirement",
]

_LINE = re.compile(
    r"""
    \s*+(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?+)\s*+
    (?:\[(?P<extras>[^\]]*+)\]\s*+)?+
    (?:
        @\s*+(?P<url>(?:[^\s;]|;(?!\s))++)
        |\((?P<bracketed>[^)]*+)\)
        |(?P<bare>(?:[<>=!~][^;@()\[\]]*+)?+)
    )\s*+
    (?:;(?P<marker>.*+))?+
    """,
    re.DOTALL | re.VERBOSE,
)
"""Nothing that matched is tried again: time grows with the length of a text, whatever is in it."""
_LONGEST = 10_000
_UNSEEN = ("platform_release", "platform_version")
"""Marker variables that name a kernel, which no lock knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementLine:
    """What one requirement says; its specifier may be none that `packaging` takes."""

    name: str
    """Normalised."""
    extras: frozenset[str]
    """Normalised."""
    specifier: str
    """As written, "==9.5.1.17"; empty for any version and for a URL."""
    url: str | None
    """What follows the `@`."""
    marker: Marker | None
    unclear: bool
    """Whether it depends on something that nobody knows before the installation."""

    def holds(self, truths: Truths) -> bool:
        """Whether it applies in an environment; an unclear one does not count."""
        if self.unclear:
            return False
        return self.marker is None or self.marker.holds(truths)

    def __str__(self) -> str:
        extras = f"[{','.join(sorted(self.extras))}]" if self.extras else ""
        return f"{self.name}{extras}{self.specifier}"


@lru_cache(maxsize=65536)
def read_requirement(text: str) -> RequirementLine | None:
    """The requirement in a text; None where it is none (old metadata has some)."""
    found = _LINE.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    name, extras, url, bracketed, bare, marker = found.groups()
    try:
        parsed = Marker(marker.strip()) if marker and marker.strip() else None
    except ValueError:
        return None
    return RequirementLine(
        name=normalized(name),
        extras=frozenset(
            normalized(extra.strip()) for extra in (extras or "").split(",") if extra.strip()
        ),
        specifier="".join((bracketed or bare or "").split()),
        url=url,
        marker=parsed,
        unclear=bool(marker) and any(variable in marker for variable in _UNSEEN),
    )


@lru_cache(maxsize=65536)
def full_requirement(text: str) -> Requirement | None:
    """The requirement in a text as `packaging` has it; None where it is not valid."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredRequirement:
    """One requirement string of a pyproject.toml."""

    file: Path
    """Relative to the workspace root."""
    table: str
    """Dotted path of the array: `project.dependencies`, `dependency-groups.dev`, …"""
    keys: tuple[str, ...]
    """The same path as keys; a key may itself contain a dot."""
    index: int
    """Position in the array, `include-group` entries counted."""
    line: int
    """1-based."""
    raw: str
    """The string's value, as the user spelled it."""
    requirement: Requirement

    @property
    def name(self) -> str:
        """The package's normalised name."""
        return normalized(self.requirement.name)

    @property
    def place(self) -> str:
        """`project.dependencies[5]`."""
        return f"{self.table}[{self.index}]"

    @property
    def extra(self) -> str | None:
        """The extra it belongs to, normalised; None outside `project.optional-dependencies`."""
        return _last(self.keys, ("project", "optional-dependencies"))

    @property
    def group(self) -> str | None:
        """The dependency group it belongs to, normalised; `dev` for `tool.uv.dev-dependencies`."""
        if self.keys == ("tool", "uv", "dev-dependencies"):
            return "dev"
        return _last(self.keys, ("dependency-groups",))


@dataclass(frozen=True, slots=True, kw_only=True)
class IncludedGroup:
    """`{ include-group = "…" }` inside a dependency group."""

    file: Path
    group: str
    includes: str
    index: int
    line: int


def _last(keys: tuple[str, ...], parent: tuple[str, ...]) -> str | None:
    return normalized(keys[-1]) if keys[:-1] == parent else None


def parse_requirement(text: str, file: Path | str, place: str, line: int | None) -> Requirement:
    """Parse a PEP 508 requirement.

    Raises:
        InputError: it is none; the message names file, line and place.
    """
    from packaging.requirements import (  # 5 ms, which those who only read locks need not spend
        InvalidRequirement,
        Requirement,
    )

    try:
        return Requirement(text)
    except InvalidRequirement as error:
        reason = str(error).split("\n", 1)[0]
        shown = text if len(text) <= 80 else text[:77] + "…"
        expected = f"expected a requirement such as 'torch>=2.7', found {shown!r}: {reason}"
        raise InputError(file, expected, place=place, line=line) from None
