"""One run of resolvelib: complete a choice of frameworks to a whole stack, or say why not."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from resolvelib import BaseReporter, ResolutionImpossible, ResolutionTooDeep, Resolver

from stackfix.model.environment import TargetEnvironment
from stackfix.model.finding import Finding
from stackfix.model.stack import Piece, Stack
from stackfix.rules.judge import judge_stack
from stackfix.solve.candidates import Candidates
from stackfix.solve.explain import Conflict, explain
from stackfix.solve.problem import PLAN, Problem, StackRequirement
from stackfix.solve.provider import Candidate, StackProvider
from stackfix.solve.reasons import reasons

__all__ = ["Solution", "combine", "complete"]

ROUNDS = 2000
"""Steps after which a combination counts as unsolvable; real stacks need a few dozen."""

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


def complete(
    problem: Problem, domain: Candidates, chosen: Mapping[str, Version]
) -> Solution | Conflict:
    """The stack that goes with `chosen` framework versions, nearest to what is locked.

    What only the whole stack shows (a companion without a library for the CUDA of this torch)
    rules out the release in question, and the rest is chosen again.
    """
    refused: set[tuple[str, Version]] = set()
    conflict: Conflict | None = None
    for _ in range(REPAIRS):
        solution = combine(problem, domain, chosen, refused)
        if isinstance(solution, Conflict):
            return conflict or solution
        faults = _faults(problem, solution.stacks)
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
    problem: Problem,
    domain: Candidates,
    chosen: Mapping[str, Version],
    refused: Container[tuple[str, Version]] = (),
) -> Solution | Conflict:
    """Like `complete`, but what comes out is not judged yet; `refused` releases stay out."""
    pins = _pins(problem, chosen)
    resolver: Resolver[StackRequirement, Candidate, str] = Resolver(
        StackProvider(problem, domain, refused), BaseReporter()
    )
    try:
        result = resolver.resolve([*pins, *problem.roots], max_rounds=ROUNDS)
    except ResolutionImpossible as impossible:
        return explain(tuple(impossible.causes), problem, domain)
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
    because = reasons(problem, domain, versions, asked)
    stacks = tuple(_stack(problem, environment, versions) for environment in problem.environments)
    return Solution(versions=versions, because=because, stacks=stacks)


def _pins(problem: Problem, chosen: Mapping[str, Version]) -> list[StackRequirement]:
    """The chosen versions as demands, on the package and on its extras that the project asks for.

    An extra that was left free would be tried at every version, to fail at each because the
    package itself has one.
    """
    keys = [(name, name) for name in chosen]
    keys += ((root.key, root.name) for root in problem.roots if root.name in chosen)
    return [
        # "===": a public version must not stand for the same version of another index.
        StackRequirement(key, SpecifierSet(f"==={chosen[name]}"), PLAN)
        for key, name in dict.fromkeys(keys)
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
    seen: set[str] = set()
    while queue:
        key = queue.pop()
        if key in seen:
            continue
        seen.add(key)
        name, _, extra = key.partition("[")
        package = problem.graph.packages.get(name)
        if package is None or name not in versions:
            continue
        piece = environment.piece(problem.graph, package, versions[name])
        pieces[name] = piece
        queue.append(name)
        if piece.wheel is None:
            continue
        for requirement in problem.applying(
            piece.wheel.requires or (), {environment.platform}, extra.rstrip("]")
        ):
            queue += [demand.key for demand in StackRequirement.of(requirement, "")]
    return Stack(platform=environment.platform, python=environment.stack.python, pieces=pieces)
