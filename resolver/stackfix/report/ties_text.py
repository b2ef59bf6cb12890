"""Known bugs and ties to other packages as text, from their documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding

from stackfix.report.plain import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["sources", "ties"]


def ties(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The sections on bugs, couplings and collisions of a package's or a release's document."""
    yield from _section("Known bugs", [_bug(bug) for bug in document["known_bugs"]])
    yield from _section("Goes together with", [_coupling(one) for one in document["couplings"]])
    yield from _section("Overwrites files of", [_collision(one) for one in document["collisions"]])


def sources(evidence: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line for each piece of evidence."""
    return [str(one["line"]) for one in evidence]


def _bug(bug: Mapping[str, Any]) -> list[tuple[str, str]]:
    fixed = f" (fixed in {', '.join(bug['fixed'])})" if bug["fixed"] else ""
    lines = [
        (f"{bug['id']}  {bug['summary']}{fixed}", "yellow" if bug["severity"] != "info" else ""),
        (f"  {bug['effect']}", ""),
    ]
    if bug["workaround"]:
        lines.append((f"  instead: {bug['workaround']}", "green"))
    return lines + [(f"  {line}", "dim") for line in sources(bug["evidence"])]


def _coupling(coupling: Mapping[str, Any]) -> list[tuple[str, str]]:
    versions = coupling["versions"] or coupling["relation"].replace("-", " ")
    of = f"{coupling['of']} with " if coupling["of"] else ""
    lines = [(f"{of}{coupling['needs']} {versions}: {coupling['why']}", "")]
    return lines + [(f"  {line}", "dim") for line in sources(coupling["evidence"])]


def _collision(collision: Mapping[str, Any]) -> list[tuple[str, str]]:
    lines = [
        (f"{collision['with']} {collision['versions']}".rstrip() + f": {collision['path']}", "")
    ]
    return lines + [(f"  {line}", "dim") for line in sources(collision["evidence"])]


def _section(title: str, items: Sequence[list[tuple[str, str]]]) -> Iterator[RenderableType]:
    if not items:
        return
    yield plain(f"\n{title}", "bold underline")
    for lines in items:
        for text, style in lines:
            deeper = len(text) - len(text.lstrip())
            yield Padding(plain(text.strip(), style), (0, 0, 0, 2 + deeper))
