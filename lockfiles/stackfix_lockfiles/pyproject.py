"""One pyproject.toml of a workspace: its values, its text, and where each requirement stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from stackfix_index.names import normalized
from stackfix_lockfiles import toml
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.requirement import DeclaredRequirement, IncludedGroup, parse_requirement
from stackfix_lockfiles.toml import WrongValue, lines

__all__ = ["Pyproject", "TomlFile"]

MAX_BYTES = 1 << 20
"""Written by people; the largest of the corpus has 40 kB."""


@dataclass(frozen=True, kw_only=True)
class TomlFile:
    """A TOML file of the user's: values, exact text, lines."""

    path: Path
    """Relative to the workspace root."""
    shown: str
    """What errors and reports call it."""
    data: bytes = field(repr=False)
    document: Mapping[str, Any] = field(repr=False)

    @classmethod
    def read(cls, path: Path, root: Path, shown: str, *, what: str) -> Self:
        """Read it; InputError if it is missing, binary, or no valid TOML."""
        data = toml.read_bytes(path, name=shown, what=what, limit=MAX_BYTES)
        relative = Path(path).relative_to(root) if path.is_relative_to(root) else path
        document = toml.parse(data, shown, what=what)
        return cls(path=relative, shown=shown, data=data, document=document)

    def with_content(self, data: bytes) -> Self:
        """The same file with other content. Raises InputError where that is no TOML."""
        document = toml.parse(data, self.shown, what="a pyproject.toml")
        return type(self)(path=self.path, shown=self.shown, data=data, document=document)

    @cached_property
    def text(self) -> str:
        """The file's text, line endings as they are."""
        return self.data.decode("utf-8")

    @cached_property
    def _lines(self) -> Mapping[tuple[str | int, ...], int]:
        return lines(self.text)

    def line(self, *path: str | int) -> int | None:
        """Return the 1-based line of a value; None if there is no such value."""
        return self._lines.get(path)

    def table(self, *path: str) -> Mapping[str, Any]:
        """Return the table at `path`, an empty one if it is absent.

        Raises:
            InputError: something on the way is no table.
        """
        table: Mapping[str, Any] = self.document
        for depth, key in enumerate(path, 1):
            value = table.get(key, {})
            if not isinstance(value, dict):
                raise self.fault(path[:depth], f"expected a table, found {toml.kind(value)}")
            table = value
        return table

    def strings(self, *path: str) -> tuple[str, ...]:
        """Return the array of strings at `path`; InputError if it is none."""
        try:
            return toml.listed(self.table(*path[:-1]), path[-1], str)
        except WrongValue as fault:
            parent = ".".join(path[:-1])
            raise (fault.under(parent) if parent else fault).error(
                self.shown, self.line(*path)
            ) from None

    def fault(self, path: tuple[str | int, ...], expected: str) -> InputError:
        """Return the error of a wrong value at `path`."""
        place = ""
        for part in path:
            place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else part
        return InputError(self.shown, expected, place=place or None, line=self.line(*path))


@dataclass(frozen=True, kw_only=True)
class Pyproject(TomlFile):
    """A pyproject.toml: the workspace root's or a member's."""

    @property
    def name(self) -> str | None:
        """The project's normalised name; None without a `[project]` table."""
        name = self.table("project").get("name")
        return normalized(name) if isinstance(name, str) else None

    @property
    def dynamic(self) -> frozenset[str]:
        """The metadata that only a build tells: `version`, `dependencies`, …"""
        return frozenset(self.strings("project", "dynamic"))

    @cached_property
    def requirements(self) -> tuple[DeclaredRequirement, ...]:
        """Every requirement in `[project]`, its extras, dependency groups and dev-dependencies.

        Raises:
            InputError: an entry is no requirement.
        """
        arrays: list[tuple[str, ...]] = [("project", "dependencies")]
        parents = (("project", "optional-dependencies"), ("dependency-groups",))
        for parent in parents:
            arrays.extend((*parent, key) for key in self.table(*parent))
        arrays.append(("tool", "uv", "dev-dependencies"))
        return tuple(found for keys in arrays for found in self.declared(*keys))

    @cached_property
    def included_groups(self) -> tuple[IncludedGroup, ...]:
        """Every `include-group` entry of the dependency groups."""
        return tuple(
            IncludedGroup(
                file=self.path,
                group=normalized(group),
                includes=normalized(item["include-group"]),
                index=index,
                line=self.line("dependency-groups", group, index) or 1,
            )
            for group in self.table("dependency-groups")
            for index, item in enumerate(self._items("dependency-groups", group))
            if isinstance(item, dict) and isinstance(item.get("include-group"), str)
        )

    def declared(self, *keys: str) -> Iterator[DeclaredRequirement]:
        """Yield the requirements of the array at `keys`; InputError for an entry that is none."""
        table = ".".join(keys)
        for index, item in enumerate(self._items(*keys)):
            if (
                isinstance(item, dict)
                and keys[0] == "dependency-groups"
                and "include-group" in item
            ):
                continue
            if not isinstance(item, str):
                found = toml.kind(item)
                raise self.fault((*keys, index), f"expected a requirement string, found {found}")
            line = self.line(*keys, index) or 1
            yield DeclaredRequirement(
                file=self.path,
                table=table,
                keys=keys,
                index=index,
                line=line,
                raw=item,
                requirement=parse_requirement(item, self.shown, f"{table}[{index}]", line),
            )

    def _items(self, *keys: str) -> list[Any]:
        value = self.table(*keys[:-1]).get(keys[-1], [])
        if not isinstance(value, list):
            raise self.fault(keys, f"expected an array, found {toml.kind(value)}")
        return value
