"""One edit, as data: it can be printed, stored in a plan, and applied to a later text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

__all__ = ["Edit", "EditKind", "toml_key", "toml_text"]


class EditKind(StrEnum):
    """What kind of thing is edited."""

    REQUIREMENT = "requirement"
    """An item of an array of requirement strings."""
    INDEX = "index"
    """A package index."""
    SOURCE = "source"
    """The source of a package."""
    CONFLICT = "conflict"
    """A set of extras and groups that exclude each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change of one file. `old` None adds, `new` None removes, both replace."""

    kind: EditKind
    file: Path
    """Relative to the workspace root."""
    table: str
    """Dotted path of the array or table: `project.dependencies`, `tool.uv.index`."""
    keys: tuple[str, ...]
    """The same as keys."""
    line: int | None
    """1-based line of what is replaced or removed, in the file as it is now; None for additions."""
    old: str | None
    """A requirement string, or the TOML text of an index, source or conflict."""
    new: str | None
    why: str
    index: int | None = None
    """Position in the array, to tell equal strings apart."""
    package: str | None = None
    """The package whose source it is, as spelled in the file."""
    comment: bool = False
    """Whether `why` is written beside what is added."""

    @property
    def place(self) -> str:
        """`pyproject.toml:12 project.dependencies`, for reports."""
        where = str(self.file) if self.line is None else f"{self.file}:{self.line}"
        return f"{where} {self.table}"


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(value: object) -> str:
    """Return a string, boolean, number, array or table on one line: `{ index = "cu128" }`.

    Raises:
        ValueError: it is something else, such as a date.
    """
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{toml_key(name)} = {toml_text(item)}" for name, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(toml_text(item) for item in value)}]"
    if isinstance(value, str):
        if '"' in value and "'" not in value and value.isprintable():
            return f"'{value}'"
        return _basic(value)
    if isinstance(value, bool | int | float):
        return str(value).lower()
    raise ValueError(f"no plain value: {value!r}")


def toml_key(name: str) -> str:
    """Return a key, quoted where it must be."""
    return name if _BARE.fullmatch(name) else _basic(name)


def _basic(value: str) -> str:
    text = json.dumps(value, ensure_ascii=False)  # TOML's escapes, but for this one character
    return text.replace("\x7f", "\\u007f")
