"""What packages say they require, and whether versions satisfy it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion

from stackfix_knowledge.evidence import Evidence
from stackfix_lockfiles.requirement import RequirementLine

__all__ = ["DeclaredMetadata", "admits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredMetadata:
    """What a package itself says it requires, and who read it."""

    lines: tuple[RequirementLine, ...]
    evidence: tuple[Evidence, ...] = ()
    disputed: frozenset[RequirementLine] = frozenset()
    """Lines that other wheels of the same release do not have. uv asks one wheel and takes it for
    all, so a lock may be without them (tensorflow for aarch64 wants another package)."""


@lru_cache(maxsize=65536)
def admits(specifier: str, version: str) -> bool | None:
    """Whether a specifier admits a version; None where one of the two is not readable."""
    if not specifier or specifier == f"=={version}":
        return True
    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return None
