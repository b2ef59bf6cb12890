"""Verdicts that a person should look at: near a threshold, or against a vendor's document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stackfix_knowledge.capability import ComputeCapability
from stackfix_knowledge.coverage import Share, Support
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.lint.decisions import Decisions
from stackfix_knowledge.lint.problem import Kind, Problem
from stackfix_knowledge.release import Release

__all__ = ["borderline", "disputed"]

_RUNS = (Support.SUPPORTED, Support.JIT)


def borderline(
    releases: Iterable[Release],
    cards: Sequence[ComputeCapability],
    file: str,
    decisions: Decisions,
) -> Iterator[Problem]:
    """Libraries whose share of usable containers lies near a threshold, equal ones in one line.

    All of them are of one package.
    """
    package = ""
    found: dict[tuple[str, str, Share], dict[str, list[ComputeCapability]]] = {}
    for release in releases:
        package = release.package
        for wheel in release.wheels:
            for library in wheel.coverage.libraries if wheel.coverage else ():
                toolkit = wheel.coverage.toolkit if wheel.coverage else None
                for card in cards:
                    share = library.share(card, toolkit=toolkit)
                    if share.is_close and library.support(card, toolkit=toolkit) is not None:
                        key = (wheel.platform, library.name, share)
                        found.setdefault(key, {}).setdefault(str(release.version), []).append(card)
    for (platform, name, share), versions in found.items():
        on = sorted({card for concerned in versions.values() for card in concerned})
        runs = share.native + share.jit
        decided = decisions.on(package, name, share)
        yield Problem(
            kind=Kind.DECIDED if decided else Kind.BORDERLINE,
            file=file,
            place=f"{_span(list(versions))} {platform} {name}",
            text=f"{_cards(on)}: {runs} of {share.total} containers ({share.covered:.0%},"
            f" {share.native} of them native) counts as {share.support}"
            + (f"; {decided.why}" if decided else ""),
        )


def disputed(
    releases: Iterable[Release], graph: Graph, cards: Sequence[ComputeCapability], file: str
) -> Iterator[Problem]:
    """Releases whose code and whose vendor's matrix disagree, one line for each wheel."""
    for release in releases:
        matrix = graph.matrix(release.package, release.version)
        if matrix is None:
            continue
        for wheel in release.wheels:
            if wheel.coverage is None:
                continue
            runs = {card: wheel.coverage.support(card) in _RUNS for card in cards}
            place = f"{release.version} {wheel.platform}"
            document = f"the vendor's matrix of {matrix.documents}"
            if beyond := [card for card in cards if runs[card] and not matrix.lists(card)]:
                text = f"{_cards(beyond)}: measured to run, {document} does not list it"
                yield Problem(kind=Kind.DISPUTED, file=file, place=place, text=text)
            if short := [card for card in cards if not runs[card] and matrix.lists(card)]:
                text = f"{_cards(short)}: {document} lists it, measured not to run"
                yield Problem(kind=Kind.DISPUTED, file=file, place=place, text=text)


def _cards(cards: Sequence[ComputeCapability]) -> str:
    return ", ".join(map(str, cards))


def _span(versions: Sequence[str]) -> str:
    return versions[0] if len(versions) == 1 else f"{versions[0]} … {versions[-1]}"
