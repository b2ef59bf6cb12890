"""Verdicts near a threshold that somebody looked at: `facts/borderline.toml`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from stackfix_knowledge.coverage import Share, Support
from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.lint.problem import Kind, Problem
from stackfix_knowledge.reader import Entry, read_facts

__all__ = ["Decision", "Decisions", "parse_decisions"]

FILE = "borderline.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One library whose verdict was looked at by hand."""

    place: str
    packages: tuple[str, ...]
    library: str
    """How the name of its file starts."""
    runs: str
    """Containers that the card runs of those that count, "10 of 11"."""
    state: str
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

    def in_vain(self) -> Iterator[Problem]:
        """A fault for each decision on what is not there, or no longer near a threshold."""
        for one in self._decisions:
            if one.place not in self._used:
                text = (
                    f"expected a library that is near a threshold, not {one.library} ({one.runs})"
                )
                yield Problem(kind=Kind.FAULT, file=FILE, place=one.place, text=text)


def parse_decisions(file: Entry) -> Iterator[Decision]:
    """Read the decisions of a facts file. Raises FactsError."""
    file.only("sources", "decided")
    sources = file.sources()
    for entry in file.entries("decided"):
        entry.only("packages", "library", "runs", "state", "why", "source")
        if entry.text("state") not in list(Support):
            raise entry.fault("state", f"one of {', '.join(Support)}")
        if not entry.texts("packages"):
            raise entry.fault("packages", "at least one package")
        yield Decision(
            place=entry.place,
            packages=entry.texts("packages"),
            library=entry.text("library"),
            runs=entry.text("runs"),
            state=entry.text("state"),
            why=entry.text("why"),
            evidence=entry.evidence(sources),
        )
