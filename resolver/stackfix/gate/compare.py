"""Two checks of one lock: what a change makes worse, what it mends, what stays as it was.

The same fault at another version is the same fault, and so is one of a library that changed its
name with the CUDA major. Having no code for a card, code for a part and code by JIT are steps of
one thing: a change is to blame only for a step down.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stackfix.audit.judging import Found
from stackfix.model.finding import Finding, Severity
from stackfix_knowledge.graph import Graph

__all__ = ["Comparison", "compare"]

_CODE = frozenset({"SF101", "SF102", "SF103", "SF105", "SF109"})
_UNKNOWN = "SF109"
_NAMES_OTHERS = frozenset({"SF302", "SF303", "SF304", "SF401", "SF502", "SF503", "SF505"})
"""Rules whose message tells which of several faults of a package this one is."""
_VERSION = re.compile(r"[<>=!~]*\d[\w.+!*]*")
_RANK = {Severity.ERROR: 2, Severity.WARNING: 1, Severity.INFO: 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Findings of the newer lock and of the older one, told apart."""

    worse: tuple[Found, ...]
    repaired: tuple[Found, ...]
    kept: int


def compare(
    before: Sequence[Found], after: Sequence[Found], names: Iterable[str], graph: Graph
) -> Comparison:
    """Tell the findings of two locks apart.

    `names` are the packages of the newer one: what is gone has nothing repaired about it.
    """
    left = {_subject(name, graph) for name in names}
    old = _worst(before, graph)
    new = _worst(after, graph)
    worse = [
        found
        for found in after
        if (rank := old.get(_key(found.finding, graph))) is None
        or _RANK[found.finding.severity] > rank[0]
    ]
    repaired = [
        found
        for found in before
        if _is_repaired(found.finding, new, graph)
        and (found.finding.code in _NAMES_OTHERS or _subject(found.finding.package, graph) in left)
    ]
    return Comparison(worse=tuple(worse), repaired=tuple(repaired), kept=len(after) - len(worse))


def _is_repaired(
    finding: Finding, new: dict[tuple[str, ...], tuple[int, str]], graph: Graph
) -> bool:
    if finding.code == _UNKNOWN:
        return False
    left = new.get(_key(finding, graph))
    return left is None or (left[0] < _RANK[finding.severity] and left[1] != _UNKNOWN)


def _worst(found: Iterable[Found], graph: Graph) -> dict[tuple[str, ...], tuple[int, str]]:
    worst: dict[tuple[str, ...], tuple[int, str]] = {}
    for one in found:
        key = _key(one.finding, graph)
        entry = (_RANK[one.finding.severity], one.finding.code)
        worst[key] = max(worst.get(key, entry), entry)
    return worst


def _key(finding: Finding, graph: Graph) -> tuple[str, ...]:
    named = finding.code in _NAMES_OTHERS
    subject = finding.package if named else _subject(finding.package, graph)
    target = finding.target.label if finding.target else ""
    detail = _VERSION.sub("#", finding.message) if named else ""
    return ("code" if finding.code in _CODE else finding.code, subject, target, detail)


def _subject(name: str, graph: Graph) -> str:
    """The library that a package is, whatever its CUDA major; else its name."""
    package = graph.packages.get(name)
    return (package.provides if package else None) or name
