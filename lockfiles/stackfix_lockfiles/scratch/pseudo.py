"""Markers without the pseudo extras by which a lock tells conflicting extras apart."""

from __future__ import annotations

import re

from stackfix_lockfiles.markers import Marker

__all__ = ["without_pseudo_extras"]

_PSEUDO = re.compile(r"extra\s*[!=]=\s*['\"](?:extra|group|project)-\d+-")

_LONGEST = 50_000
"""Characters up to which a marker is taken apart; the longest of the corpus has 4,000."""

Part = tuple[str, ...] | None
"""Tokens of one operand of `and`; None when it always holds."""


def without_pseudo_extras(text: str) -> str | None:
    """The marker with every comparison of a pseudo extra taken as true; None if nothing is left.

    uv added those comparisons to tell its forks apart; the package's own metadata never has them.
    A marker has no `not`, so the result holds wherever the original does.
    """
    if "extra" not in text:
        return text
    if len(text) > _LONGEST:
        return None
    # An `or` of `and`s per nesting level; `stack` instead of recursion, as in `Marker.holds`.
    stack: list[list[list[Part]]] = [[[]]]
    for token in Marker(text).tokens:
        if token == "(":
            stack.append([[]])
        elif token == ")":
            inner = _either(stack.pop(), closed=True)
            stack[-1][-1].append(inner)
        elif token == "or":
            stack[-1].append([])
        elif token != "and":
            stack[-1][-1].append(None if _PSEUDO.match(token) else (token,))
    left = _either(stack[0], closed=False)
    return None if left is None else " ".join(left).replace("( ", "(").replace(" )", ")")


def _either(terms: list[list[Part]], *, closed: bool) -> Part:
    """The alternatives as one operand, in parentheses if `closed` and there are several."""
    joined: list[str] = []
    for term in terms:
        both = [part for part in term if part is not None]
        if not both:
            return None  # one alternative always holds
        if joined:
            joined.append("or")
        for number, part in enumerate(both):
            joined.extend(("and", *part) if number else part)
    return ("(", *joined, ")") if closed and len(terms) > 1 else tuple(joined)
