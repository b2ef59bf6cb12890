"""Variants of the project that could change their CUDA major, and the edits that change them.

A requirement is exchanged only where the project itself makes it: what another package's metadata
asks for holds, and so does what `--keep` names or a direct URL fixes. A project that offers each
variant in an extra or group of its own has made the choice a matter of `--extra`; there nothing is
rewritten.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from packaging.requirements import Requirement

from stackfix.plan.edits.scope import Scope
from stackfix.plan.lock_state import LockState
from stackfix.plan.problems.project import active
from stackfix.plan.request import Request
from stackfix.solve.cost import Cost
from stackfix.solve.problem import Problem, StackRequirement
from stackfix.solve.search import Failure
from stackfix.solve.variant_swap import VariantSwap
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.packages import Role
from stackfix_knowledge.stack.variants import Variant, VariantGroup
from stackfix_lockfiles import edits as editing
from stackfix_lockfiles.edits import Edit
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.requirement import DeclaredRequirement
from stackfix_lockfiles.sources import DeclaredSource

__all__ = ["VariantProblems", "concerns", "everywhere", "with_swap", "with_variants"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantProblems:
    """A problem with the project's variants as they are, and exchanged."""

    problem: Problem
    exchanged: tuple[Problem, ...]
    declared_fit: bool
    """Whether `--require` asks for no variant but the declared ones."""
    held: tuple[Failure, ...]
    """Variants that cannot be exchanged, each with the reason."""

    @property
    def all(self) -> tuple[Problem, ...]:
        """What to search, the project as it is first."""
        return (self.problem, *self.exchanged) if self.declared_fit else self.exchanged


def with_variants(
    request: Request, lock_state: LockState, problem: Problem, demands: Sequence[StackRequirement]
) -> VariantProblems:
    """`problem`, and one problem for each CUDA major that its project's variants could change to.

    `demands` are those of packages outside the stack.
    """
    graph = request.graph
    asked = {
        demand.key: declared
        for declared in active(request, lock_state)
        for demand in StackRequirement.of(declared.requirement, "")
        if graph.variants.get(demand.key) is not None
    }
    required = _required(request)
    others = {demand.key: demand.origin for demand in demands}
    found, held = [], []
    own = {_cuda(graph, key) for key in asked}
    majors = {v.cuda for key in asked for v in _group(graph, key).alternatives}
    # Of equal moves, the one to the nearest CUDA comes first.
    for cuda in sorted(majors, key=lambda cuda: (min(abs(cuda - now) for now in own), cuda)):
        swaps: dict[str, Variant] = {}
        for key, declared in asked.items():
            group = _group(graph, key)
            new = group.of(cuda)
            if new is None or new.cuda == _cuda(graph, key):
                continue
            reason = _holding(request, problem, declared, new, others, key)
            if reason is None and required.get(id(group), cuda) == cuda:
                swaps[key] = new
            elif reason is not None:
                held.append(_failure(problem, key, new, reason))
        if swaps:
            price = _price(graph, swaps.values())
            found.append(problem.exchanging(VariantSwap(cuda=cuda, swaps=swaps, price=price)))
    declared_fit = all(
        required.get(id(_group(graph, key)), _cuda(graph, key)) == _cuda(graph, key)
        for key in asked
    )
    return VariantProblems(
        problem=problem, exchanged=tuple(found), declared_fit=declared_fit, held=tuple(held)
    )


def _group(graph: Graph, key: str) -> VariantGroup:
    group = graph.variants.group(key)
    assert group is not None  # only keys of variants are looked at
    return group


def _cuda(graph: Graph, key: str) -> int:
    variant = graph.variants.get(key)
    assert variant is not None
    return variant.cuda


def _required(request: Request) -> dict[int, int]:
    """The CUDA majors that `--require` asks of groups: "jax[cuda13]"."""
    table = request.graph.variants
    return {
        id(group): variant.cuda
        for text in request.require
        for demand in StackRequirement.of(Requirement(text), "--require")
        if (variant := table.get(demand.key)) is not None
        and (group := table.group(demand.key)) is not None
    }


def _holding(
    request: Request,
    problem: Problem,
    declared: DeclaredRequirement,
    new: Variant,
    others: dict[str, str],
    key: str,
) -> str | None:
    """Why a variant stays as it is; None where it may be exchanged."""
    if declared.requirement.url is not None:
        return "a direct URL in pyproject.toml"
    if declared.name in problem.held:
        return f"{declared.name} stays as it is ({problem.held[declared.name]})"
    if key in others:
        return f"{others[key]} needs {key}"
    offered = _offered(request.project, declared, new)
    if offered is not None:
        kind = "extra" if offered.extra is not None else "group"
        return f"the project offers {new} in its {kind} {offered.extra or offered.group}"
    return None


def _offered(
    project: Project, declared: DeclaredRequirement, new: Variant
) -> DeclaredRequirement | None:
    """Where a project that asks for a variant in an extra or group has the other one in another."""
    home = (declared.extra, declared.group)
    if home == (None, None):
        return None
    for other in project.requirements:
        elsewhere = (other.extra, other.group)
        if other.name != new.package or elsewhere in {home, (None, None)}:
            continue
        if any(demand.key == new.key for demand in StackRequirement.of(other.requirement, "")):
            return other
    return None


def _failure(problem: Problem, key: str, new: Variant, reason: str) -> Failure:
    name = key.partition("[")[0]
    return Failure(
        package=name,
        version=problem.locked[name],
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


def with_swap(project: Project, problem: Problem, where: Scope) -> tuple[Project, tuple[Edit, ...]]:
    """The project as it asks for the exchanged variants, and the edits that make it so.

    Every place that names one is edited: groups, members and extras too, those aside whose marker
    holds on no environment and those that `where` excludes.
    """
    exchange = problem.exchange
    if exchange is None:
        return project, ()
    requirements, edits = [], []
    for declared in project.requirements:
        edit = None
        if where.reaches(declared, project) and concerns(exchange, declared, project, problem):
            edit = _respelled(declared, exchange)
        if edit is not None and edit.new is not None:
            edits.append(edit)
            declared = replace(declared, raw=edit.new, requirement=Requirement(edit.new))
        requirements.append(declared)
    edits += _sources(project, exchange, {declared.name for declared in requirements})
    return project.declaring(tuple(requirements)), tuple(edits)


def everywhere(project: Project, problem: Problem, where: Scope) -> bool:
    """Whether an exchange touches what the chosen extras and groups share with the others."""
    exchange = problem.exchange
    return exchange is not None and any(
        where.reaches(declared, project)
        and not where.owns(declared, project)
        and concerns(exchange, declared, project, problem)
        for declared in project.requirements
    )


def concerns(
    exchange: VariantSwap, declared: DeclaredRequirement, project: Project, problem: Problem
) -> bool:
    """Whether a requirement asks for a variant that is exchanged, on some environment."""
    requirement = declared.requirement
    keys = [d.key for d in StackRequirement.of(requirement, "") if d.key in exchange.swaps]
    if not keys or requirement.url is not None:
        return False
    if any(_offered(project, declared, exchange.swaps[key]) is not None for key in keys):
        return False
    marker = requirement.marker
    return marker is None or any(
        marker.evaluate({**environment.markers, "extra": declared.extra or ""})
        for environment in problem.environments
    )


def _respelled(declared: DeclaredRequirement, exchange: VariantSwap) -> Edit:
    """The edit of one requirement: its name or its extras."""
    swaps = {k: exchange.swaps[k] for k in _keys(declared) if k in exchange.swaps}
    name = next((new.package for new in swaps.values() if new.extra is None), None)
    extras = {
        key.partition("[")[2][:-1]: new.extra for key, new in swaps.items() if new.extra is not None
    }
    said = ", ".join(f"{key} → {new}" for key, new in swaps.items())
    why = f"{said}: this plan's CUDA major is {exchange.cuda}"
    return editing.respell_requirement(declared, name=name, extras=extras, why=why)


def _keys(declared: DeclaredRequirement) -> Iterator[str]:
    return (demand.key for demand in StackRequirement.of(declared.requirement, ""))


def _sources(project: Project, exchange: VariantSwap, left: Container[str]) -> Iterator[Edit]:
    """For a package under another name: the index that the old name was taken from.

    The old name's source goes away, unless the project still asks for it (it is in `left`), or
    unless the file is laid out so that it can't: what nothing names does no harm.
    """
    for source in project.sources:
        new = exchange.swaps.get(source.package)
        if new is None or source.kind != "index":
            continue
        why = f"{new} takes the place of {source.package}"
        if source.package not in left:
            yield from _removed(project, source, why)
        yield editing.add_source(
            project,
            new.package,
            source.value,
            marker=source.marker,
            extra=source.extra,
            group=source.group,
            file=source.file,
            why=why,
        )


def _removed(project: Project, source: DeclaredSource, why: str) -> Iterator[Edit]:
    try:
        edit = editing.remove_source(project, source, why=why)
        editing.apply_edits(project, [edit])
    except InputError:
        return
    yield edit
