"""Version specifiers: what they pin, and how they are rewritten to admit another version."""

from __future__ import annotations

from packaging.specifiers import Specifier, SpecifierSet
from packaging.version import InvalidVersion, Version

__all__ = [
    "admitting",
    "bound_below",
    "exact",
    "kept_clauses",
    "pinned",
    "within_major",
    "written",
]


def bound_below(version: Version) -> str:
    """The shortest spelling of `version` as an upper bound: 2.11.0 → "2.11"."""
    release = list(version.release)
    while len(release) > 2 and release[-1] == 0:
        release.pop()
    text = ".".join(str(part) for part in release)
    return text if Version(text) == Version(version.public) else version.public


def _next_minor(version: Version) -> str:
    return f"{version.major}.{version.minor + 1}"


def admitting(
    specifier: SpecifierSet, chosen: Version, *, below: Version | None = None
) -> str | None:
    """`specifier` changed so little that it admits `chosen` and nothing from `below` on.

    Exact pins stay exact pins, `==2.7.*` stays a prefix and `~=` compatible, each around `chosen`.
    A lower bound above `chosen` becomes `>=chosen`; an upper bound that excludes it becomes
    `<below` or the next minor. None: nothing has to change. A `!=` or `===` that excludes `chosen`
    may not be edited away and raises ValueError.
    """
    public = Version(chosen.public)
    clauses: list[str] = []
    changed = False
    opened = False
    for clause in sorted(specifier, key=_written_order):
        if clause.contains(public, prereleases=True):
            clauses.append(str(clause))
            continue
        changed = True
        text = _replacement(clause, public)
        if text is None:
            opened = True
        else:
            clauses.append(text)
    if opened:
        clauses.append(f"<{bound_below(below)}" if below else f"<{_next_minor(public)}")
    result = SpecifierSet(",".join(clauses))
    if below is not None and result.contains(below, prereleases=True):
        clauses = [c for c in clauses if not c.startswith(("<", "~="))] + [f"<{bound_below(below)}"]
        changed = True
    if not changed:
        return None
    return ",".join(dict.fromkeys(clauses))


def _replacement(clause: Specifier, chosen: Version) -> str | None:
    """The clause around `chosen`; None for an upper bound, which the caller sets anew."""
    if clause.operator == "==" and clause.version.endswith(".*"):
        parts = clause.version.removesuffix(".*").count(".") + 1
        return "==" + ".".join(str(p) for p in (*chosen.release, 0, 0, 0)[:parts]) + ".*"
    if clause.operator == "==":
        return f"=={chosen}"
    if clause.operator == "~=":
        parts = max(2, len(Version(clause.version).release))
        return "~=" + ".".join(str(p) for p in (*chosen.release, 0, 0, 0)[:parts])
    if clause.operator in {">=", ">"}:
        return f">={chosen}"
    if clause.operator in {"<", "<="}:
        return None
    raise ValueError(f"{clause} excludes {chosen}")


def written(specifier: SpecifierSet) -> str:
    """A specifier as people write it: ">=9.8,<10"."""
    return ",".join(str(clause) for clause in sorted(specifier, key=_written_order))


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


def exact(specifier: SpecifierSet) -> Version | None:
    """The version that a specifier pins; None where it pins none."""
    for clause in specifier:
        if clause.operator in {"==", "==="} and not clause.version.endswith(".*"):
            try:
                return Version(clause.version)
            except InvalidVersion:  # "===" takes any text
                return None
    return None


def kept_clauses(specifier: SpecifierSet) -> SpecifierSet:
    """What may not be edited away: versions that the project excludes, or takes, by name."""
    return SpecifierSet(",".join(str(c) for c in specifier if c.operator in {"!=", "==="}))


def _written_order(clause: Specifier) -> tuple[int, str]:
    """Lower bounds before upper bounds, as people write them; SpecifierSet has no order."""
    return (
        {">=": 0, ">": 0, "==": 0, "~=": 0, "<": 1, "<=": 1}.get(clause.operator, 2),
        str(clause),
    )
