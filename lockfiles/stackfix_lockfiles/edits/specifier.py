"""A requirement string with another specifier, name or extra, everything else as it was spelled."""

from __future__ import annotations

import re
from collections.abc import Mapping

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from stackfix_index.names import normalized

__all__ = ["is_url", "respecified", "respelled", "specifier_of"]

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
_NAMED = re.compile(
    r"(?P<lead>\s*)(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
    r"(?:(?P<open>\s*\[)(?P<extras>[^\]]*)\])?"
)
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


def respelled(raw: str, name: str | None, extras: Mapping[str, str]) -> str:
    """Return `raw` with another package name, or with some of its extras exchanged for others.

    Specifier, marker, the other extras and all spacing stay, and so does the user's separator: an
    extra written `cuda12_local` is exchanged for `cuda13_local`.

    Args:
        raw: a requirement with or without versions.
        name: the other package; None keeps the name.
        extras: normalised extras and what takes their place. One that is there already goes away.

    Raises:
        ValueError: `raw` has a URL or no readable form.
    """
    found = None if is_url(raw) or _SHAPE.fullmatch(raw) is None else _NAMED.match(raw)
    if found is None:
        raise ValueError(f"expected a requirement with versions, found {raw!r}")
    head = found["lead"] + (_separated(name, found["name"]) if name else found["name"])
    if found["extras"] is not None:
        head += f"{found['open']}{_exchanged(found['extras'], extras)}]"
    return head + raw[found.end() :]


def _exchanged(written: str, extras: Mapping[str, str]) -> str:
    """Return a list of extras with some exchanged, each at its place."""
    present = {str(normalized(item.strip())) for item in written.split(",")}
    kept: list[str] = []
    for item in written.split(","):
        old = item.strip()
        new = extras.get(normalized(old))
        if new is None:
            kept.append(item)
        elif new not in present:
            present.add(new)
            kept.append(item.replace(old, _separated(new, old), 1))
    return ",".join(kept)


def _separated(new: str, old: str) -> str:
    """Return a normalised name with the separators of the one that it stands in for."""
    return new.replace("-", "_") if "_" in old and "-" not in old else new
