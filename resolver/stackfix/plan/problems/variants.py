"""The project's variants in other CUDA majors: which of them it could ask for instead.

A requirement is swapped only where the project itself makes it: what another package's metadata
asks for holds, and so does what `--keep` names or a direct URL fixes. A project that offers each
variant in an extra or group of its own has made the choice a matter of `--extra`; there nothing is
rewritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packaging.requirements import Requirement

from stackfix.plan.lock_state import LockState
from stackfix.plan.problems.project import active
from stackfix.plan.request import Request
from stackfix.solve.cost import Cost
from stackfix.solve.problem import Problem, VariantSwap
from stackfix.solve.search import Exclusion
from stackfix.solve.terms import PackageKey, StackRequirement
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.packages import Role
from stackfix_knowledge.stack.variants import Variant, VariantGroup, VariantTable
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.requirement import DeclaredRequirement

__all__ = ["VariantProblems", "concerns", "variant_problems"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantProblems:
    """A problem with the project's variants as they are, and with others in their place."""

    problem: Problem
    swapped: tuple[Problem, ...]
    """One for each CUDA major that the variants could change to."""
    declared_fit: bool
    """Whether `--require` asks for no variant but the declared ones."""
    exclusions: tuple[Exclusion, ...]
    """Variants that cannot be swapped, each with the reason."""

    @property
    def all(self) -> tuple[Problem, ...]:
        """What to search, the project as it is first."""
        return (self.problem, *self.swapped) if self.declared_fit else self.swapped


@dataclass(frozen=True, slots=True, kw_only=True)
class _AskedVariant:
    """A variant that the project asks for."""

    key: PackageKey
    variant: Variant
    group: VariantGroup
    declared: DeclaredRequirement


def variant_problems(
    request: Request,
    lock_state: LockState,
    problem: Problem,
    requirements: Sequence[StackRequirement],
) -> VariantProblems:
    """`problem`, and one problem for each CUDA major that its project's variants could change to.

    `requirements` are those of packages outside the stack.
    """
    asked = _asked(request, lock_state)
    required = _required_majors(request)
    makers = {requirement.key: requirement.origin for requirement in requirements}
    swapped, exclusions = [], []
    own = {one.variant.cuda for one in asked}
    majors = {variant.cuda for one in asked for variant in one.group.alternatives}
    # Of equal moves, the one to the nearest CUDA comes first.
    for cuda in sorted(majors, key=lambda cuda: (min(abs(cuda - now) for now in own), cuda)):
        swaps: dict[PackageKey, Variant] = {}
        for one in asked:
            new = one.group.of(cuda)
            if new is None or new.cuda == one.variant.cuda:
                continue
            reason = _fixing(request, problem, one, new, makers)
            if reason is None and required.get(one.group, cuda) == cuda:
                swaps[one.key] = new
            elif reason is not None:
                exclusions.append(_exclusion(problem, one.key, new, reason))
        if swaps:
            price = _price(request.graph, swaps.values())
            swapped.append(problem.swapping(VariantSwap(cuda=cuda, swaps=swaps, price=price)))
    return VariantProblems(
        problem=problem,
        swapped=tuple(swapped),
        declared_fit=all(
            required.get(one.group, one.variant.cuda) == one.variant.cuda for one in asked
        ),
        exclusions=tuple(exclusions),
    )


def _asked(request: Request, lock_state: LockState) -> list[_AskedVariant]:
    """The variants that the project asks for, each once, by the last requirement on it."""
    found = {}
    table = request.graph.variants
    for declared in active(request, lock_state):
        for key, variant in _variants(declared.requirement, table).items():
            found[key] = _AskedVariant(
                key=key, variant=variant, group=table.group(variant), declared=declared
            )
    return list(found.values())


def _variants(requirement: Requirement, table: VariantTable) -> dict[PackageKey, Variant]:
    """The variants that a requirement asks for."""
    known = {key: table.get(key.name, key.extra) for key in PackageKey.of(requirement)}
    return {key: variant for key, variant in known.items() if variant is not None}


def _required_majors(request: Request) -> dict[VariantGroup, int]:
    """The CUDA majors that `--require` asks of groups: "jax[cuda13]"."""
    table = request.graph.variants
    return {
        table.group(variant): variant.cuda
        for text in request.require
        for variant in _variants(Requirement(text), table).values()
    }


def _fixing(
    request: Request,
    problem: Problem,
    asked: _AskedVariant,
    new: Variant,
    makers: Mapping[PackageKey, str],
) -> str | None:
    """Why a variant stays as it is; None where it may be swapped."""
    declared = asked.declared
    if declared.requirement.url is not None:
        return "a direct URL in pyproject.toml"
    if declared.name in problem.fixed:
        return f"{declared.name} stays as it is ({problem.fixed[declared.name]})"
    if asked.key in makers:
        return f"{makers[asked.key]} needs {asked.key}"
    offered = _offered(request.project, declared, new)
    if offered is not None:
        kind = "extra" if offered.extra is not None else "group"
        return f"the project offers {new} in its {kind} {offered.extra or offered.group}"
    return None


def _offered(
    project: Project, declared: DeclaredRequirement, new: Variant
) -> DeclaredRequirement | None:
    """Where a project that asks for a variant in an extra or group has the other one in another."""
    place = (declared.extra, declared.group)
    if place == (None, None):
        return None
    for other in project.requirements:
        elsewhere = (other.extra, other.group)
        if other.name != new.package or elsewhere in {place, (None, None)}:
            continue
        if PackageKey(new.package, new.extra or "") in PackageKey.of(other.requirement):
            return other
    return None


def _exclusion(problem: Problem, key: PackageKey, new: Variant, reason: str) -> Exclusion:
    return Exclusion(
        package=key.name,
        version=problem.locked[key.name],
        reason=f"{new} cannot take the place of {key}: {reason}",
    )


def _price(graph: Graph, variants: Iterable[Variant]) -> Cost:
    """What asking for these variants costs: each package once, however it is spelled."""
    library = other = unknown = 0
    for name in {variant.package for variant in variants}:
        package = graph.packages.get(name)
        if package is not None and package.role is Role.LIBRARY:
            library += 1
        else:
            other += 1
        unknown += not graph.releases(name)
    return Cost(unknown=unknown, variant=other, library=library)


def concerns(
    variant_swap: VariantSwap, declared: DeclaredRequirement, project: Project, problem: Problem
) -> bool:
    """Whether a requirement asks for a variant that is swapped, on some environment."""
    requirement = declared.requirement
    keys = [key for key in PackageKey.of(requirement) if key in variant_swap.swaps]
    if not keys or requirement.url is not None:
        return False
    if any(_offered(project, declared, variant_swap.swaps[key]) is not None for key in keys):
        return False
    return any(
        environment.holds(requirement.marker, declared.extra or "")
        for environment in problem.environments
    )
