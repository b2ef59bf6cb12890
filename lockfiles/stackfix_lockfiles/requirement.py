"""A requirement where the user wrote it: file, table, position and line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from stackfix_lockfiles.errors import InputError

if TYPE_CHECKING:
    from packaging.requirements import Requirement

__all__ = ["DeclaredRequirement", "IncludedGroup", "parse_requirement"]


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
        return str(canonicalize_name(self.requirement.name))

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
    return str(canonicalize_name(keys[-1])) if keys[:-1] == parent else None


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
