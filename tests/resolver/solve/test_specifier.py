"""Specifiers rewritten so that they admit a version, in the style they are written in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.solve.specifier import admitting, bound_below


@pytest.mark.parametrize(
    ("written", "chosen", "below", "becomes"),
    [
        ("==2.7.1", "2.8.0", None, "==2.8.0"),
        ("==2.7.1", "2.8.0", "2.11.0", "==2.8.0"),
        ("==2.7.*", "2.8.0", None, "==2.8.*"),
        ("~=2.7.1", "2.8.0", None, "~=2.8.0"),
        (">=2.7,<2.8", "2.8.0", "2.11.0", ">=2.7,<2.11"),
        (">=2.7,<2.8", "2.8.0", None, ">=2.7,<2.9"),
        (">=2.7", "2.8.0", "2.11.0", ">=2.7,<2.11"),
        (">=2.7,<3", "2.8.0", "2.11.0", ">=2.7,<2.11"),
        (">=2.7", "2.8.0", None, None),
        (">=2.7", "2.8.0+cu128", None, None),
        (">=2.12", "2.10.0", "2.11.0", ">=2.10.0,<2.11"),
        ("", "2.8.0", "2.11.0", "<2.11"),
        ("", "2.8.0", None, None),
    ],
)
def test_the_style_stays(written: str, chosen: str, below: str | None, becomes: str | None) -> None:
    bound = Version(below) if below else None
    assert admitting(SpecifierSet(written), Version(chosen), below=bound) == becomes


def test_what_the_user_excluded_by_name_is_not_edited_away() -> None:
    with pytest.raises(ValueError, match=r"!=2\.8\.0 excludes 2\.8\.0"):
        admitting(SpecifierSet("!=2.8.0"), Version("2.8.0"))


@pytest.mark.parametrize(
    ("version", "text"),
    [("2.11.0", "2.11"), ("2.8.1", "2.8.1"), ("0.8.0", "0.8"), ("3.0.0", "3.0")],
)
def test_a_bound_is_spelled_short(version: str, text: str) -> None:
    assert bound_below(Version(version)) == text


numbers = st.integers(0, 30)
versions = st.builds(lambda a, b, c: Version(f"{a}.{b}.{c}"), numbers, numbers, numbers)
clauses = st.builds(
    lambda op, v: f"{op}{v}", st.sampled_from([">=", "<=", "<", ">", "==", "~="]), versions
)


@given(st.lists(clauses, max_size=3), versions, st.none() | versions)
def test_the_result_admits_what_was_chosen_and_nothing_from_the_bound_on(
    written: list[str], chosen: Version, below: Version | None
) -> None:
    if below is not None and below <= chosen:
        below = None
    specifier = SpecifierSet(",".join(written))
    text = admitting(specifier, chosen, below=below)
    result = specifier if text is None else SpecifierSet(text)
    assert result.contains(chosen)
    if below is not None:
        assert not result.contains(below)
