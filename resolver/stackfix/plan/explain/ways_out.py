"""What outside the pins would make a plan possible: a newer driver, or a fleet taken apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.model.environment import TargetEnvironment
from stackfix.model.finding import Finding
from stackfix.model.target import Target
from stackfix.plan.case import Case
from stackfix.plan.explain.fleet import GroupRequirements, smallest_split, uv_sketch
from stackfix.plan.lock_state import audited
from stackfix.plan.problems.project import project_problem
from stackfix.plan.problems.relaxations import at_fault, relaxations
from stackfix.solve.preference import VersionFindings
from stackfix.solve.problem import IndexChoice, Problem
from stackfix.solve.search import Combination
from stackfix.solve.specifier import bound_below
from stackfix.solve.terms import StackRequirement
from stackfix.solve.upgrade import relapse
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.hardware import DriverVersion
from stackfix_knowledge.stack.packages import Role

__all__ = ["raised", "ways_out"]

ROUNDS = 16
"""Bounds set one after another for one stack before it is given up."""


def ways_out(
    case: Case, requirements: Sequence[StackRequirement], choice: IndexChoice
) -> tuple[str, ...]:
    """Ways out, each tried in the solver before it is named."""
    if _solved(case, case.before.environments, requirements, choice) is not None:
        return ()  # what is left is uv's refusal, and no driver changes that
    found = list(_by_driver(case, requirements, choice))
    if len(case.before.environments) > 1:
        found += _by_split(case, requirements, choice)
    return tuple(found)


def raised(target: Target, graph: Graph) -> Iterator[DriverVersion]:
    """Newer drivers worth trying, the lowest first: the card's first, then each CUDA major's."""
    if target.driver is None:
        return
    first = graph.cuda.first_driver(target.capability)
    wanted = [first.value] if first else []
    for major in graph.cuda.majors:
        minimum = graph.cuda.minimum_driver(major, target.platform)
        if minimum is not None:
            wanted.append(minimum.value)
    for at_least in sorted(set(wanted)):
        advised = graph.cuda.advised_driver(target.capability, at_least)
        if advised is not None and advised.value > target.driver:
            yield advised.value


def _by_driver(
    case: Case, requirements: Sequence[StackRequirement], choice: IndexChoice
) -> Iterator[str]:
    """The lowest driver, for each kind of card that is held back by its own, that opens a plan."""
    graph = case.request.graph
    for target in dict.fromkeys(environment.target for environment in case.before.environments):
        last = graph.cuda.last_branch(target.capability)
        if last and target.driver and target.driver.branch > last.value:
            yield f"the {target.short}: a driver of branch {last.value}, the last that supports it"
        for driver in dict.fromkeys(raised(target, graph)):
            environments = _with(case.before.environments, target, replace(target, driver=driver))
            outcome = _solved(case, environments, requirements, choice)
            if outcome is not None:
                compat = ", or its cuda-compat package," if target.may_have_compat else ""
                yield (
                    f"driver {driver} or newer{compat} for the {target.short}: then {outcome.words}"
                )
                break


def _by_split(
    case: Case, requirements: Sequence[StackRequirement], choice: IndexChoice
) -> Iterator[str]:
    """What each card alone would need, and the fewest locks that serve all of them."""
    targets = list(dict.fromkeys(environment.target for environment in case.before.environments))
    solved: dict[frozenset[Target], _Outcome | None] = {}

    def outcome(group: frozenset[Target]) -> _Outcome | None:
        if group not in solved:
            environments = tuple(
                environment
                for environment in case.before.environments
                if environment.target in group
            )
            solved[group] = _solved(case, environments, requirements, choice)
        return solved[group]

    for target in targets:
        alone = outcome(frozenset({target}))
        yield f"{target.short} alone: {alone.words if alone else 'no plan either'}"
    groups = smallest_split(targets, lambda group: outcome(group) is not None)
    if groups is None or len(groups) < 2:
        return
    found = [one for group in groups if (one := outcome(frozenset(group))) is not None]
    named = "; ".join(
        f"{', '.join(target.short for target in group)}: {one.words}"
        for group, one in zip(groups, found, strict=True)
    )
    stacks = [one.requirements() for one in found]
    sketch = uv_sketch(groups, stacks, case.request.graph.indexes)
    yield f"{len(groups)} locks serve them all: {named}"
    yield "as extras of one project that exclude each other:\n" + sketch


def _with(
    environments: Sequence[TargetEnvironment], old: Target, new: Target
) -> tuple[TargetEnvironment, ...]:
    return tuple(replace(s, target=new) if s.target == old else s for s in environments)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A move that works on some environments."""

    words: str
    problem: Problem
    versions: Mapping[str, Version]

    def requirements(self) -> GroupRequirements:
        """What a project would ask for to get this, and nothing worse after an upgrade."""
        findings = VersionFindings(self.problem)
        pins = {
            name: SpecifierSet(f"=={version.public}")
            for name, version in sorted(self.versions.items())
            if self._is_asked_for(name)
        }
        for _ in range(ROUNDS):
            fault = relapse(self.problem, findings, self.versions, pins)
            if fault is None or str(pins.get(fault.package, "")).startswith("=="):
                break
            pins[fault.package] = SpecifierSet(f"<{bound_below(fault.below)}")
        indexes = {
            name: index
            for name in self.problem.graph.packages.on_pytorch_indexes
            if name in pins and (index := self.versions[name].local) is not None
        }
        spelled = tuple(f"{self._spelled(name)}{pin}" for name, pin in pins.items())
        return GroupRequirements(spelled, indexes)

    def _is_asked_for(self, name: str) -> bool:
        """Whether the project names a package, or would have to: an index serves only those."""
        package = self.problem.graph.packages.get(name)
        if package is None or package.role is Role.LIBRARY:
            return False
        named = any(root.name == name for root in self.problem.roots)
        return named or package.role is Role.FRAMEWORK or self.versions[name].local is not None

    def _spelled(self, name: str) -> str:
        """The package with the extras that it is asked for with."""
        keys = (root.key for root in self.problem.roots if root.name == name)
        extras = {key.extra for key in keys if key.extra}
        return f"{name}[{','.join(sorted(extras))}]" if extras else name


def _solved(
    case: Case,
    environments: tuple[TargetEnvironment, ...],
    requirements: Sequence[StackRequirement],
    choice: IndexChoice,
) -> _Outcome | None:
    """The cheapest move on these environments; None: there is none."""
    before = replace(case.before, environments=environments)
    faults = _faults(case, environments)
    if not case.clashing and not faults:
        still = project_problem(case.request, before, requirements, index_choice=choice)
        return _Outcome("nothing has to move", still, still.locked)
    for relaxation in relaxations(case.request, before, requirements, choice, at_fault(faults)):
        found = next(relaxation.search().combinations(), None)
        if found is not None and not _into_the_unknown(found):
            return _Outcome(
                _words(found, found.problem.locked), found.problem, found.solution.versions
            )
    return None


def _faults(case: Case, environments: Sequence[TargetEnvironment]) -> Sequence[Finding]:
    """What is wrong with the lock for these environments' targets; nothing for one made up."""
    if case.clashing:
        return ()
    targets = tuple(dict.fromkeys(environment.target for environment in environments))
    request = replace(case.request, targets=targets)
    return audited(request, case.before.lock, environments=case.walked).faults


def _into_the_unknown(found: Combination) -> bool:
    """Whether a framework would move to a build of which nobody knows what it runs on."""
    staying = sum(
        found.candidates.costs(name)[version].unknown
        for name, version in found.chosen.items()
        if found.problem.locked.get(name) == version
    )
    return found.cost.unknown > staying


def _words(found: Combination, locked: Mapping[str, Version]) -> str:
    moved = [
        f"{name} {found.problem.start(name)} → {version}"
        for name, version in found.chosen.items()
        if locked.get(name) != version
    ]
    swap = found.problem.variant_swap
    moved += (f"{old} → {new}" for old, new in (swap.swaps if swap else {}).items())
    return ", ".join(moved) or "the libraries move and no framework does"
