"""A requirement string with another version specifier, everything else as the user spelled it."""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet

__all__ = ["is_url", "respecified", "specifier_of"]

_SHAPE = re.compile(
    r"""
    (?P<head>\s*[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\s*\[[^\]]*\])?)
    (?P<gap>\s*)
    (?P<open>\(\s*)?
    (?P<spec>(?:[<>=!~][^;()]*?)?)
    (?P<close>\s*\))?
    (?P<tail>\s*(?:;.*)?)
    """,
    re.VERBOSE | re.DOTALL,
)
_URL = re.compile(r"\s*[A-Za-z0-9._-]+\s*(?:\[[^\]]*\])?\s*@")
_CLAUSE = re.compile(r"(===|==|~=|!=|<=|>=|<|>)(\s*)(\S.*)", re.DOTALL)


def is_url(raw: str) -> bool:
    """Return whether the requirement names a URL (`torch @ https://…`) instead of versions."""
    return _URL.match(raw) is not None


def specifier_of(requirement: str) -> str:
    """Return a requirement's specifier as written; `packaging` would sort its clauses.

    Raises:
        ValueError: it has a URL, or no readable form.
    """
    found = None if is_url(requirement) else _SHAPE.fullmatch(requirement)
    if found is None:
        raise ValueError(f"expected a requirement with versions, found {requirement!r}")
    return found["spec"].strip()


def respecified(raw: str, specifier: str) -> str:
    """Return `raw` with its version specifier replaced.

    Name spelling, extras, marker, parentheses, and the user's spacing around operators and commas
    stay. `raw` may be a string's value or the characters between its quotes.

    Raises:
        ValueError: `raw` has a URL or no readable form, or `specifier` is none.
    """
    try:
        SpecifierSet(specifier)
    except InvalidSpecifier:
        raise ValueError(f"expected a version specifier, found {specifier!r}") from None
    found = None if is_url(raw) else _SHAPE.fullmatch(raw)
    if found is None:
        raise ValueError(f"expected a requirement with versions, found {raw!r}")
    old = found["spec"]
    gap = found["gap"] if old or found["open"] else ""
    tail = found["tail"]
    if not old and not found["open"]:
        tail = found["gap"] + tail
    return "".join(
        (
            found["head"],
            gap,
            found["open"] or "",
            _styled(specifier, old),
            found["close"] or "",
            tail,
        )
    )


def _styled(specifier: str, old: str) -> str:
    """Space the clauses of `specifier` as those of `old` are spaced."""
    first = _CLAUSE.match(old.split(",", 1)[0].strip())
    between = first[2] if first else ""
    comma = re.search(r"\s*,\s*", old)
    joint = comma[0] if comma else ", " if between else ","
    clauses = []
    for clause in specifier.split(","):
        found = _CLAUSE.fullmatch(clause.strip())
        clauses.append(f"{found[1]}{between}{found[3].strip()}" if found else clause.strip())
    return joint.join(clause for clause in clauses if clause)
