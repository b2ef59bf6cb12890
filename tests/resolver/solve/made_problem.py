"""Small problems for solver tests: real package names and rules, invented releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.model.environment import TargetEnvironment
from stackfix.model.stack import Piece, Stack
from stackfix.solve.problem import Problem
from stackfix.solve.terms import StackRequirement
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.wheels.indexes import IndexTable
from stackfix_knowledge.wheels.release import Release
from stackfix_lockfiles.platforms import Platform
from tests.resolver.making import library, target, wheel

PLATFORM = Platform.parse("linux_x86_64")


@dataclass(frozen=True)
class Made:
    """One invented release: what it requires, and the cards it has code for."""

    requires: Sequence[str] | None = ()
    """None: nobody read it."""
    code: str = "sm_70 sm_80 sm_90"
    cuda: str = "12.6"
    built_against: Mapping[str, str] = field(default_factory=dict)


class MadeGraph(Graph):
    """The real graph with invented releases in place of the real ones, and without known bugs."""

    def __init__(self, made: Mapping[str, Mapping[str, Made]], whl: str | None = None) -> None:
        super().__init__()
        self._whl = whl
        self._made = {
            name: tuple(
                _release(name, version, releases[version])
                for version in sorted(releases, key=Version)
            )
            for name, releases in made.items()
        }

    def releases(self, name: str) -> tuple[Release, ...]:
        return self._made.get(name, ())

    def release(self, name: str, version: Version | str) -> Release | None:
        wanted = Version(str(version))
        return next((r for r in self.releases(name) if r.version == wanted), None)

    @cached_property
    def indexes(self) -> IndexTable:
        """PyTorch's indexes, at the address of a test server."""
        return IndexTable.load(self._whl)

    def advisories(self, name: str) -> tuple[()]:
        return ()

    def matrix(self, name: str, version: Version | str) -> None:
        return None


def _release(name: str, version: str, made: Made) -> Release:
    fact = wheel(
        library(f"{name}.so", {made.code: 10}),
        cuda=made.cuda,
        requires=None if made.requires is None else tuple(made.requires),
        built_against={k: Version(v) for k, v in made.built_against.items()},
    )
    local = Version(version).local
    return Release(
        package=name, version=Version(version), date="2026-01-01", home=local, wheels=(fact,)
    )


def made_problem(
    made: Mapping[str, Mapping[str, Made]],
    locked: Mapping[str, str],
    roots: Sequence[str],
    *,
    cards: Sequence[str] = ("RTX 5090",),
    overrides: Mapping[str, str] | None = None,
    fixed: Sequence[str] = (),
    declared: Sequence[str] = (),
) -> Problem:
    """A problem with these releases, this lock, and a project that asks for `roots`."""
    graph = MadeGraph(made)
    versions = {name: Version(version) for name, version in locked.items()}
    pieces = {
        name: Piece.known(graph, package, version, PLATFORM.name)
        for name, version in versions.items()
        if (package := graph.packages.get(name)) is not None
    }
    stack = Stack(platform=PLATFORM.name, python="3.11.9", pieces=pieces)
    asked = [r for text in roots for r in StackRequirement.of(Requirement(text), "the project")]
    outside: dict[str, tuple[StackRequirement, ...]] = {}
    for text in declared:
        for requirement in StackRequirement.of(Requirement(text), "the project"):
            name = requirement.name
            outside[name] = (*outside.get(name, ()), requirement)
    return Problem(
        graph=graph,
        environments=tuple(
            TargetEnvironment(target=target(card), stack=stack, markers=PLATFORM.markers("3.11.9"))
            for card in cards
        ),
        locked=versions,
        roots=tuple(asked),
        declared=outside,
        overrides={name: SpecifierSet(text) for name, text in (overrides or {}).items()},
        fixed=dict.fromkeys(fixed, "--keep"),
        python="3.11",
    )
