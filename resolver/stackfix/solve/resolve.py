"""One run of resolvelib: complete a choice of frameworks to a whole stack, or say why not."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from resolvelib import BaseReporter, ResolutionImpossible, ResolutionTooDeep, Resolver

from stackfix.rules.finding import Finding
from stackfix.rules.judge import errors, judge_stack
from stackfix.solve.conflict import Conflict, explain
from stackfix.solve.domain import Domain
from stackfix.solve.provider import Candidate, StackProvider
from stackfix.solve.reasons import reasons
from stackfix.solve.world import PLAN, Demand, Site, World
from stackfix.stack import Piece, Stack

__all__ = ["Solution", "combine", "complete"]

ROUNDS = 2000
"""Steps after which a combination counts as unsolvable; real stacks need a few dozen."""

REPAIRS = 40
"""How often a stack is chosen again without the companions that turned out not to fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Versions of the stack that belong together on every site."""

    versions: Mapping[str, Version]
    because: Mapping[str, str]
    """Why each package is not where it was: "torch 2.8.0 needs nvidia-cudnn-cu12==9.10.2.21"."""
    stacks: tuple[Stack, ...]
    """One for each site, in their order."""


def complete(world: World, domain: Domain, chosen: Mapping[str, Version]) -> Solution | Conflict:
    """The stack that goes with `chosen` framework versions, nearest to what is locked.

    What only the whole stack shows (a companion without a library for the CUDA of this torch)
    rules out the release in question, and the rest is chosen again.
    """
    refused: set[tuple[str, Version]] = set()
    conflict: Conflict | None = None
    for _ in range(REPAIRS):
        solution = combine(world, domain, chosen, refused)
        if isinstance(solution, Conflict):
            return conflict or solution
        faults = _faults(world, solution.stacks)
        if not faults:
            return solution
        conflict = conflict or Conflict(
            reason=faults[0].message, lifts=tuple(f.fix for f in faults if f.fix is not None)
        )
        guilty = {
            (fault.package, solution.versions[fault.package])
            for fault in faults
            if fault.package in solution.versions and fault.package not in chosen
        }
        if guilty <= refused:
            return conflict
        refused |= guilty
    assert conflict is not None
    return conflict


def combine(
    world: World,
    domain: Domain,
    chosen: Mapping[str, Version],
    refused: Container[tuple[str, Version]] = (),
) -> Solution | Conflict:
    """Like `complete`, but what comes out is not judged yet; `refused` releases stay out."""
    pins = _pins(world, chosen)
    resolver: Resolver[Demand, Candidate, str] = Resolver(
        StackProvider(world, domain, refused), BaseReporter()
    )
    try:
        result = resolver.resolve([*pins, *world.roots], max_rounds=ROUNDS)
    except ResolutionImpossible as impossible:
        return explain(tuple(impossible.causes), world, domain)
    except ResolutionTooDeep:
        return Conflict(reason=f"no end after {ROUNDS} steps")
    versions = {
        key: candidate.version
        for key, candidate in result.mapping.items()
        if candidate.version is not None and "[" not in key
    }
    asked = {
        key: [information.requirement for information in criterion.information]
        for key, criterion in result.criteria.items()
        if key in versions
    }
    because = reasons(world, domain, versions, asked)
    stacks = tuple(_stack(world, site, versions) for site in world.sites)
    return Solution(versions=versions, because=because, stacks=stacks)


def _pins(world: World, chosen: Mapping[str, Version]) -> list[Demand]:
    """The chosen versions as demands, on the package and on its extras that the project asks for.

    An extra that was left free would be tried at every version, to fail at each because the
    package itself has one.
    """
    keys = [(name, name) for name in chosen]
    keys += ((root.key, root.name) for root in world.roots if root.name in chosen)
    return [
        # "===": a public version must not stand for the same version of another index.
        Demand(key, SpecifierSet(f"==={chosen[name]}"), PLAN)
        for key, name in dict.fromkeys(keys)
    ]


def _faults(world: World, stacks: tuple[Stack, ...]) -> list[Finding]:
    """The errors of a combination on its sites."""
    found: list[Finding] = []
    for site, stack in zip(world.sites, stacks, strict=True):
        found += errors(judge_stack(stack, site.target, world.graph))
    return found


def _stack(world: World, site: Site, versions: Mapping[str, Version]) -> Stack:
    """What one site would install of the solution: what its own markers reach from the roots."""
    pieces: dict[str, Piece] = {}
    queue = [root.key for root in world.roots if world.installs(site, root.name)]
    seen: set[str] = set()
    while queue:
        key = queue.pop()
        if key in seen:
            continue
        seen.add(key)
        name, _, extra = key.partition("[")
        package = world.graph.packages.get(name)
        if package is None or name not in versions:
            continue
        piece = site.piece(world.graph, package, versions[name])
        pieces[name] = piece
        queue.append(name)
        if piece.wheel is None:
            continue
        for requirement in world.applying(
            piece.wheel.requires or (), {site.platform}, extra.rstrip("]")
        ):
            queue += [demand.key for demand in Demand.of(requirement, "")]
    return Stack(platform=site.platform, python=site.stack.python, pieces=pieces)
