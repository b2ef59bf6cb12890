"""TOML text for a few plain values: what an edit shows, stores, and writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

__all__ = ["inline", "key"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def inline(value: object) -> str:
    """Return a string, boolean, number, array or table on one line: `{ index = "cu128" }`.

    Raises:
        ValueError: it is something else, such as a date.
    """
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{key(name)} = {inline(item)}" for name, item in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list):
        return f"[{', '.join(inline(item) for item in value)}]"
    if isinstance(value, str):
        if '"' in value and "'" not in value and value.isprintable():
            return f"'{value}'"
        return _basic(value)
    if isinstance(value, bool | int | float):
        return str(value).lower()
    raise ValueError(f"no plain value: {value!r}")


def key(name: str) -> str:
    """Return a key, quoted where it must be."""
    return name if _BARE.fullmatch(name) else _basic(name)


def _basic(value: str) -> str:
    text = json.dumps(value, ensure_ascii=False)  # TOML's escapes, but for this one character
    return text.replace("\x7f", "\\u007f")
