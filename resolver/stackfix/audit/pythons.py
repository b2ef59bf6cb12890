"""Pythons that a lock or project admits."""

from __future__ import annotations

import re

from packaging.specifiers import SpecifierSet
from packaging.version import Version

__all__ = ["MINORS", "lowest_python"]

MINORS = tuple(f"3.{minor}" for minor in range(8, 20))


def lowest_python(requires_python: str) -> str:
    """The lowest Python that a specifier admits ("3.11"); "3.8" when it says nothing."""
    specifier = SpecifierSet(requires_python)
    bounds = [c.version for c in specifier if c.operator in {">=", "==", "~="}]
    exact = [bound for bound in bounds if re.fullmatch(r"\d+(\.\d+)*", bound)]
    for text in sorted({*MINORS, *exact}, key=Version):
        if specifier.contains(text):
            return text
    return MINORS[0]
