"""Environment markers of a lock, evaluated fast: a lock has thousands, made of few comparisons.

A marker is kept as its tokens; each comparison in it (`sys_platform == 'linux'`) is decided once
per environment, whatever the number of markers that contain it. Grammar: PEP 508. Meaning: uv's,
which compares `python_version`, `python_full_version` and `implementation_version` as versions
and everything else as text, and knows pseudo extras for its conflicts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from packaging.specifiers import InvalidSpecifier, Specifier
from packaging.version import InvalidVersion, Version

__all__ = ["Marker", "Truths"]

_VALUE = r"""(?:[A-Za-z_][A-Za-z_.]*|'[^'\n]*'|"[^"\n]*")"""
_COMPARISON = rf"{_VALUE}\s*(?:===|==|~=|!=|<=|>=|<|>|\bnot\s+in\b|\bin\b)\s*{_VALUE}"
_TOKEN = re.compile(rf"\s*(\(|\)|\band\b|\bor\b|{_COMPARISON})\s*")
_PARTS = re.compile(rf"({_VALUE})\s*(===|==|~=|!=|<=|>=|<|>|not\s+in|in)\s*({_VALUE})")
_MAX_LENGTH = 1_000_000

_VERSIONS = {"python_version", "python_full_version", "implementation_version"}
_VARIABLES = _VERSIONS | {
    "os_name",
    "sys_platform",
    "platform_machine",
    "platform_python_implementation",
    "platform_release",
    "platform_system",
    "platform_version",
    "implementation_name",
    "extra",
}
_ALIASES = {
    "os.name": "os_name",
    "sys.platform": "sys_platform",
    "platform.version": "platform_version",
    "platform.machine": "platform_machine",
    "platform.python_implementation": "platform_python_implementation",
    "python_implementation": "platform_python_implementation",
}
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_TEXT: Mapping[str, Callable[[str, str], bool]] = {
    "==": lambda left, right: left == right,
    "===": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
}


class Truths(dict[str, bool]):
    """The truth of comparisons in one environment, decided when first asked for.

    Args:
        values: the marker variables (`sys_platform`, `python_full_version`, …).
        extras: what `extra == '…'` is true for; uv's pseudo extras included.
    """

    def __init__(self, values: Mapping[str, str], extras: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.values_of = values
        self.extras = extras
        self.decided: dict[str, bool] = {}
        """The truth of whole markers, by their text: a lock repeats few of them many times."""

    def with_extras(self, extras: frozenset[str]) -> Truths:
        """Return the same environment with other extras; what is known of the rest stays known."""
        other = Truths(self.values_of, extras)
        other.update((key, truth) for key, truth in self.items() if "extra" not in key)
        other.decided = {text: truth for text, truth in self.decided.items() if "extra" not in text}
        return other

    def __missing__(self, comparison: str) -> bool:
        variable, operator, literal, variable_is_left = _parts(comparison)
        if variable == "extra":
            truth = (literal in self.extras) == (operator in ("==", "===", "in"))
        elif variable in _VERSIONS:
            truth = _compare_versions(self.values_of.get(variable, ""), operator, literal)
        else:
            value = self.values_of.get(variable, "")
            pair = (value, literal) if variable_is_left else (literal, value)
            truth = _TEXT["==" if operator == "~=" else operator](*pair)
        self[comparison] = truth
        return truth


def _parts(comparison: str) -> tuple[str, str, str, bool]:
    """Return variable, operator as seen from the variable, literal, and which side it stood on."""
    found = _PARTS.fullmatch(comparison)
    if found is None:  # cannot happen for a token; a mutated one must not pass silently
        raise ValueError(f"expected a comparison, found {comparison[:80]!r}")
    left, operator, right = found.groups()
    operator = " ".join(operator.split())
    if left[0] in "'\"":
        if right[0] in "'\"":
            raise ValueError(f"expected a marker variable in {comparison[:80]!r}")
        variable, literal, left_is_variable = right, left[1:-1], False
    else:
        if right[0] not in "'\"":
            raise ValueError(f"expected a quoted value in {comparison[:80]!r}")
        variable, literal, left_is_variable = left, right[1:-1], True
    variable = _ALIASES.get(variable, variable)
    if variable not in _VARIABLES:
        raise ValueError(f"expected a marker variable, found {variable[:80]!r}")
    if variable in _VERSIONS and not left_is_variable:
        operator = _MIRRORED.get(operator, operator)
    return variable, operator, literal, left_is_variable


def _compare_versions(value: str, operator: str, literal: str) -> bool:
    if operator in ("in", "not in"):
        return (value in literal.replace(",", " ").split()) == (operator == "in")
    try:
        specifier = Specifier(operator + literal)
        return specifier.contains(Version(value), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return _TEXT["==" if operator == "~=" else operator](value, literal)


class Marker:
    """A parsed marker: its text, and whether it holds in an environment."""

    __slots__ = ("has_extra", "text", "tokens")

    def __init__(self, text: str) -> None:
        """Parse `text`.

        Raises:
            ValueError: it is no PEP 508 marker; the message says what was expected.
        """
        self.text = text
        self.tokens = _tokens(text)
        self._check()

    def _check(self) -> None:
        depth, expects_value = 0, True
        for token in self.tokens:
            if token == "(":
                if not expects_value:
                    raise ValueError(_expected("'and' or 'or'", "(", self.text))
                depth += 1
            elif token == ")":
                depth -= 1
                if expects_value or depth < 0:
                    raise ValueError(_expected("a comparison", ")", self.text))
            elif token in ("and", "or"):
                if expects_value:
                    raise ValueError(_expected("a comparison", token, self.text))
                expects_value = True
            else:
                if not expects_value:
                    raise ValueError(_expected("'and' or 'or'", token, self.text))
                _parts(token)
                expects_value = False
        if expects_value or depth:
            raise ValueError(_expected("a comparison" if expects_value else "')'", "", self.text))

    def holds(self, environment: Truths) -> bool:
        """Return whether the marker is true."""
        if len(self.tokens) == 1:
            return environment[self.tokens[0]]
        known = environment.decided.get(self.text)
        if known is None:
            known = environment.decided[self.text] = self._decide(environment)
        return known

    def _decide(self, environment: Truths) -> bool:
        # An expression is an `or` of `and`s: `either` holds what the finished terms gave, `term`
        # the running one. Parentheses push both. No recursion: a hostile marker nests deep.
        either, term, stack = False, True, []
        for token in self.tokens:
            if token == "and":
                continue
            if token == "or":
                either, term = either or term, True
            elif token == "(":
                stack.append((either, term))
                either, term = False, True
            elif token == ")":
                value = either or term
                either, outer = stack.pop()
                term = outer and value
            elif term:
                term = environment[token]
        return either or term

    def __repr__(self) -> str:
        return f"Marker({self.text!r})"


def _tokens(text: str) -> tuple[str, ...]:
    if len(text) > _MAX_LENGTH:
        raise ValueError(f"expected a marker of at most {_MAX_LENGTH} characters")
    tokens, end = [], 0
    while match := _TOKEN.match(text, end):  # no search: that of a hostile text takes its square
        tokens.append(match[1])
        end = match.end()
    if end != len(text) or not tokens:
        raise ValueError(_expected("a comparison", text[end : end + 40], text))
    return tuple(tokens)


def _expected(what: str, found: str, text: str) -> str:
    shown = text if len(text) <= 80 else text[:77] + "…"
    return f"expected {what}, found {found[:80] or 'the end'!r} in the marker {shown!r}"
