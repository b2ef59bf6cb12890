"""Makes pieces, stacks and targets for tests, from the real graph and hand-written wheels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from packaging.version import Version

from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix.targets.parse import parse_target
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.hardware import Architecture
from stackfix_knowledge.wheels.coverage import Coverage, LibraryCoverage
from stackfix_knowledge.wheels.release import Release, WheelFact

MEASURED = Evidence(
    kind=EvidenceKind.MEASURED, source="made-1.0-py3-none-any.whl", date="2026-11-30"
)


@cache
def graph() -> Graph:
    """The shipped graph, read once for all tests."""
    return Graph.load()


def target(text: str) -> Target:
    """A target as a person writes it: "RTX 5090:4@570.133.07"."""
    return parse_target(text, graph().gpus)


def library(name: str, containers: Mapping[str, int]) -> LibraryCoverage:
    """A library's coverage from `{"sm_80 sm_90 compute_90": 12}`."""
    return LibraryCoverage(
        name=name,
        containers={
            frozenset(Architecture.parse(word) for word in words.split()): count
            for words, count in containers.items()
        },
    )


def wheel(*libraries: LibraryCoverage, cuda: str | None = "12.8", **more: object) -> WheelFact:
    """A measured wheel that holds these libraries."""
    known: dict[str, object] = {
        "file": "made-1.0-py3-none-any.whl",
        "platform": "linux_x86_64",
        "cuda": Version(cuda) if cuda else None,
        "coverage": Coverage(libraries=libraries, toolkit=Version(cuda) if cuda else None),
        "evidence": (MEASURED,),
        **more,
    }
    return WheelFact(**known)  # type: ignore[arg-type]  # keywords are checked by the dataclass


def piece(name: str, version: str, fact: WheelFact | None = None) -> Piece:
    """A piece of a package that the graph knows, at a version with these facts."""
    package = graph().packages.get(name)
    assert package is not None, name
    wheels = (fact,) if fact else ()
    release = Release(package=name, version=Version(version), date="2026-01-01", wheels=wheels)
    return Piece(package=package, version=Version(version), release=release, wheel=fact)


def stack(*pieces: Piece) -> Stack:
    """The pieces installed together on Linux x86_64."""
    return Stack(platform="linux_x86_64", python="3.11", pieces={p.name: p for p in pieces})
