"""Moves in which one variant takes the place of another, as one line."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["exchanged_words"]


def exchanged_words(
    package: str,
    before: str | None,
    after: str | None,
    variant: tuple[str, str],
    arrived: Mapping[str, str | None],
) -> tuple[str, str | None, str] | None:
    """What leaves, its version, and what takes its place: jax[cuda13], 0.8.0, jax[cuda12].

    None for a package that arrives: the line of the one that leaves tells it. The new version is
    told where it is another one. `arrived` holds the new version of every package that moves.
    """
    old, new = variant
    if package == new != old:
        return None
    version = after if after is not None else arrived.get(new)
    shown = new if version in {None, before} else f"{new} {version}"
    return old, before, shown
