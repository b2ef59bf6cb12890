"""Verdicts that a person should look at: near a threshold, or against a vendor's document.

`facts/borderline.toml` has those near a threshold that somebody looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.lint.remark import Remark, RemarkKind
from stackfix_knowledge.reader import Entry, read_facts
from stackfix_knowledge.wheels.coverage import Share, Support
from stackfix_knowledge.wheels.release import Release

__all__ = ["Decision", "Decisions", "borderline", "disputed", "parse_decisions"]

FILE = "borderline.toml"


class Decision(NamedTuple):
    """One library whose verdict was looked at by hand."""

    place: str
    packages: tuple[str, ...]
    library: str
    """How the name of its file starts."""
    runs: str
    """Containers that the card runs of those that count, "10 of 11"."""
    state: Support
    why: str
    evidence: tuple[Evidence, ...]


class Decisions:
    """All of them; remembers which were of use."""

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        self._decisions = tuple(decisions)
        self._used: set[str] = set()

    @classmethod
    def load(cls) -> Decisions:
        """The shipped ones."""
        return cls(parse_decisions(read_facts(FILE)))

    def on(self, package: str, library: str, share: Share) -> Decision | None:
        """The decision on a library with that share; `library` is its path in the wheel."""
        file = library.rpartition("/")[2]
        runs = f"{share.native + share.jit} of {share.total}"
        for one in self._decisions:
            if (
                package in one.packages
                and file.startswith(one.library)
                and (one.runs, one.state) == (runs, share.support)
            ):
                self._used.add(one.place)
                return one
        return None

    def in_vain(self) -> Iterator[Remark]:
        """A fault for each decision on what is not there, or no longer near a threshold."""
        for one in self._decisions:
            if one.place not in self._used:
                expected = f"a library that is near a threshold, not {one.library} ({one.runs})"
                yield Remark.fault(FILE, one.place, expected)


def parse_decisions(file: Entry) -> Iterator[Decision]:
    """Read the decisions of a facts file. Raises FactsError."""
    file.only("sources", "decided")
    sources = file.sources()
    for entry in file.entries("decided"):
        entry.only("packages", "library", "runs", "state", "why", "source")
        if not entry.texts("packages"):
            raise entry.fault("packages", "at least one package")
        yield Decision(
            place=entry.place,
            packages=entry.texts("packages"),
            library=entry.text("library"),
            runs=entry.text("runs"),
            state=entry.choice("state", Support),
            why=entry.text("why"),
            evidence=entry.evidence(sources),
        )


_RUNS = (Support.SUPPORTED, Support.JIT)


def borderline(
    releases: Iterable[Release],
    cards: Sequence[ComputeCapability],
    file: str,
    decisions: Decisions,
) -> Iterator[Remark]:
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
        yield Remark(
            kind=RemarkKind.DECIDED if decided else RemarkKind.BORDERLINE,
            file=file,
            place=f"{_span(list(versions))} {platform} {name}",
            text=f"{_cards(on)}: {runs} of {share.total} containers ({share.covered:.0%},"
            f" {share.native} of them native) counts as {share.support}"
            + (f"; {decided.why}" if decided else ""),
        )


def disputed(
    releases: Iterable[Release], graph: Graph, cards: Sequence[ComputeCapability], file: str
) -> Iterator[Remark]:
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
                yield Remark(kind=RemarkKind.DISPUTED, file=file, place=place, text=text)
            if short := [card for card in cards if not runs[card] and matrix.lists(card)]:
                text = f"{_cards(short)}: {document} lists it, measured not to run"
                yield Remark(kind=RemarkKind.DISPUTED, file=file, place=place, text=text)


def _cards(cards: Sequence[ComputeCapability]) -> str:
    return ", ".join(map(str, cards))


def _span(versions: Sequence[str]) -> str:
    return versions[0] if len(versions) == 1 else f"{versions[0]} … {versions[-1]}"
