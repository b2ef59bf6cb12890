"""Numbers and lists in words."""

from __future__ import annotations

import pytest

from stackfix.wording import count, listed, size


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_950, "1.0 MB"),
        (52_400_000, "52 MB"),
        (999_600_000, "1.0 GB"),
        (3_149_000_000, "3.1 GB"),
        (10_000_000_000, "10 GB"),
    ],
)
def test_sizes_are_short(number: int, text: str) -> None:
    assert size(number) == text


def test_one_is_singular() -> None:
    assert (count(1, "package"), count(2, "package")) == ("1 package", "2 packages")


def test_long_lists_are_cut_and_counted() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed(list("abcdefgh"), most=3) == "a, b, c and 5 more"
