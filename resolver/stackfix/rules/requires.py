"""Requires-Dist lines, read fast: a lock has hundreds, nearly all of them `name==version ; marker`.

`packaging` reads one in a tenth of a millisecond, which is too long for a gate that asks all of
them of every environment of a lock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion

from stackfix_knowledge.evidence import Evidence
from stackfix_lockfiles.markers import Marker, Truths

__all__ = ["DeclaredMetadata", "Line", "admits", "parse_line"]

_LINE = re.compile(
    r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*"
    r"(?:\(([^)]*)\)|([^;@()]*)|@[^;]*)\s*(?:;(.*))?",
    re.DOTALL,
)
_LONGEST = 10_000
_UNSEEN = ("platform_release", "platform_version")
"""Marker variables that name a kernel, which no lock knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One requirement of a wheel."""

    name: str
    """Normalised."""
    extras: frozenset[str]
    specifier: str
    """As written, "==9.5.1.17"; empty for any version and for a URL."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredMetadata:
    """What a package itself says it requires, and who read it."""

    lines: tuple[Line, ...]
    evidence: tuple[Evidence, ...] = ()
    disputed: frozenset[Line] = frozenset()
    """Lines that other wheels of the same release do not have. uv asks one wheel and takes it for
    all, so a lock may be without them (tensorflow for aarch64 wants another package)."""


@lru_cache(maxsize=65536)
def parse_line(text: str) -> Line | None:
    """The requirement in a Requires-Dist line; None when it is none (old metadata has some)."""
    found = _LINE.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        return None
    name, extras, bracketed, bare, marker = found.groups()
    try:
        parsed = Marker(marker.strip()) if marker and marker.strip() else None
    except ValueError:
        return None
    return Line(
        name=_normal(name),
        extras=frozenset(_normal(extra) for extra in (extras or "").split(",") if extra.strip()),
        specifier=(bracketed or bare or "").replace(" ", ""),
        marker=parsed,
        unclear=bool(marker) and any(variable in marker for variable in _UNSEEN),
    )


@lru_cache(maxsize=65536)
def admits(specifier: str, version: str) -> bool | None:
    """Whether a specifier admits a version; None where one of the two is not readable."""
    if not specifier or specifier == f"=={version}":
        return True
    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
