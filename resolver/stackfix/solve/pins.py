"""Exact pins: the version that one names, and the major it lies in."""

from __future__ import annotations

from packaging.specifiers import SpecifierSet
from packaging.version import Version

__all__ = ["pinned", "within_major"]


def pinned(specifier: SpecifierSet) -> Version | None:
    """The version that a specifier pins (`==2.1.*` pins 2.1); None: it pins none."""
    clauses = [clause for clause in specifier if clause.operator == "=="]
    return Version(clauses[0].version.removesuffix(".*")) if len(clauses) == 1 else None


def within_major(specifier: SpecifierSet) -> SpecifierSet | None:
    """The major of an exact pin, as a range; None where the specifier is no exact pin."""
    clauses = list(specifier)
    if len(clauses) != 1 or clauses[0].operator != "==" or clauses[0].version.endswith("*"):
        return None
    major = Version(clauses[0].version).major
    return SpecifierSet(f">={major},<{major + 1}")
