"""One run of resolvelib: complete a choice of frameworks to a whole stack, or say why not."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from resolvelib import ResolutionImpossible, ResolutionTooDeep

from stackfix.model.environment import TargetEnvironment
from stackfix.model.finding import Finding
from stackfix.model.stack import Piece, Stack
from stackfix.rules.judge import judge_stack
from stackfix.solve.candidates import Candidates
from stackfix.solve.explain import Conflict, conflict, reasons
from stackfix.solve.problem import Problem
from stackfix.solve.provider import ROUNDS, resolved
from stackfix.solve.terms import PLAN, Candidate, PackageKey, StackRequirement

__all__ = ["Solution", "combine", "complete"]

REPAIRS = 40
"""How often a stack is chosen again without the companions that turned out not to fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Versions of the stack that belong together on every environment."""

    versions: Mapping[str, Version]
    because: Mapping[str, str]
    """Why each package is not where it was: "torch 2.8.0 needs nvidia-cudnn-cu12==9.10.2.21"."""
    stacks: tuple[Stack, ...]
    """One for each environment, in their order."""


def complete(candidates: Candidates, chosen: Mapping[str, Version]) -> Solution | Conflict:
    """The stack that goes with `chosen` framework versions, nearest to what is locked.

    What only the whole stack shows (a companion without a library for the CUDA of this torch)
    rules out the release in question, and the rest is chosen again.
    """
    refused: set[tuple[str, Version]] = set()
    first: Conflict | None = None
    for _ in range(REPAIRS):
        solution = combine(candidates, chosen, refused)
        if isinstance(solution, Conflict):
            return first or solution
        faults = _faults(candidates.problem, solution.stacks)
        if not faults:
            return solution
        first = first or Conflict(
            reason=faults[0].message, ways_out=tuple(f.fix for f in faults if f.fix is not None)
        )
        guilty = {
            (fault.package, solution.versions[fault.package])
            for fault in faults
            if fault.package in solution.versions and fault.package not in chosen
        }
        if guilty <= refused:
            return first
        refused |= guilty
    assert first is not None
    return first


def combine(
    candidates: Candidates,
    chosen: Mapping[str, Version],
    refused: Container[tuple[str, Version]] = (),
) -> Solution | Conflict:
    """Like `complete`, but what comes out is not judged yet; `refused` releases stay out."""
    problem = candidates.problem
    try:
        result = resolved(candidates, [*_pins(problem, chosen), *problem.roots], refused)
    except ResolutionImpossible as impossible:
        return conflict(impossible.causes, candidates)
    except ResolutionTooDeep:
        return Conflict(reason=f"no end after {ROUNDS} steps")
    versions = {
        candidate.name: candidate.version
        for candidate in result.mapping.values()
        if isinstance(candidate, Candidate) and not candidate.key.extra
    }
    asked = {
        key.name: criterion.information
        for key, criterion in result.criteria.items()
        if isinstance(key, PackageKey) and not key.extra
    }
    stacks = (_stack(problem, environment, versions) for environment in problem.environments)
    because = reasons(candidates, versions, asked)
    return Solution(versions=versions, because=because, stacks=tuple(stacks))


def _pins(problem: Problem, chosen: Mapping[str, Version]) -> list[StackRequirement]:
    """The chosen versions as requirements, on the package and on the extras that are asked for.

    An extra that was left free would be tried at every version, to fail at each because the
    package itself has one.
    """
    keys = [PackageKey(name) for name in chosen]
    keys += (root.key for root in problem.roots if root.name in chosen)
    return [
        # "===": a public version must not stand for the same version of another index.
        StackRequirement(key, SpecifierSet(f"==={chosen[key.name]}"), PLAN)
        for key in dict.fromkeys(keys)
    ]


def _faults(problem: Problem, stacks: tuple[Stack, ...]) -> list[Finding]:
    """The errors of a combination on its environments."""
    found: list[Finding] = []
    for environment, stack in zip(problem.environments, stacks, strict=True):
        found += problem.policy.faults(judge_stack(stack, environment.target, problem.graph))
    return found


def _stack(
    problem: Problem, environment: TargetEnvironment, versions: Mapping[str, Version]
) -> Stack:
    """What one target would install of the solution: what its own markers reach from the roots."""
    pieces: dict[str, Piece] = {}
    queue = [root.key for root in problem.roots if problem.installs(environment, root.name)]
    seen: set[PackageKey] = set()
    while queue:
        key = queue.pop()
        if key in seen:
            continue
        seen.add(key)
        package = problem.graph.packages.get(key.name)
        if package is None or key.name not in versions:
            continue
        piece = environment.piece(problem.graph, package, versions[key.name])
        pieces[key.name] = piece
        queue.append(PackageKey(key.name))
        if piece.wheel is None:
            continue
        requires = piece.wheel.requires or ()
        for line in problem.applying(requires, {environment.platform}, key.extra):
            queue += PackageKey.of(line)
    return Stack(platform=environment.platform, python=environment.stack.python, pieces=pieces)
