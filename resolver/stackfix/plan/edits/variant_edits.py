"""The edits that make a project ask for other variants of the same products."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from packaging.requirements import Requirement

from stackfix.plan.edits.scope import Scope
from stackfix.plan.problems.variants import concerns
from stackfix.solve.problem import Problem, VariantSwap
from stackfix.solve.terms import PackageKey
from stackfix_lockfiles import edits as editing
from stackfix_lockfiles.edits import Edit
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.requirement import DeclaredRequirement
from stackfix_lockfiles.sources import DeclaredSource

__all__ = ["swap_is_shared", "with_swap"]


def with_swap(project: Project, problem: Problem, where: Scope) -> tuple[Project, tuple[Edit, ...]]:
    """The project as it asks for the swapped variants, and the edits that make it so.

    Every place that names one is edited: groups, members and extras too, those aside whose marker
    holds on no environment and those that `where` excludes.
    """
    swap = problem.variant_swap
    if swap is None:
        return project, ()
    requirements, edits = [], []
    for declared in project.requirements:
        edit = None
        if where.reaches(declared, project) and concerns(swap, declared, project, problem):
            edit = _respelled(declared, swap)
        if edit is not None and edit.new is not None:
            edits.append(edit)
            declared = replace(declared, raw=edit.new, requirement=Requirement(edit.new))
        requirements.append(declared)
    edits += _sources(project, swap, {declared.name for declared in requirements})
    return project.declaring(tuple(requirements)), tuple(edits)


def swap_is_shared(project: Project, problem: Problem, where: Scope) -> bool:
    """Whether a swap touches what the chosen extras and groups share with the others."""
    swap = problem.variant_swap
    return swap is not None and any(
        where.reaches(declared, project)
        and not where.owns(declared, project)
        and concerns(swap, declared, project, problem)
        for declared in project.requirements
    )


def _respelled(declared: DeclaredRequirement, swap: VariantSwap) -> Edit:
    """The edit of one requirement: its name or its extras."""
    keys = PackageKey.of(declared.requirement)
    swaps = {key: swap.swaps[key] for key in keys if key in swap.swaps}
    name = next((new.package for new in swaps.values() if new.extra is None), None)
    extras = {key.extra: new.extra for key, new in swaps.items() if new.extra is not None}
    said = ", ".join(f"{key} → {new}" for key, new in swaps.items())
    why = f"{said}: this plan's CUDA major is {swap.cuda}"
    return editing.respell_requirement(declared, name=name, extras=extras, why=why)


def _sources(project: Project, swap: VariantSwap, named: Container[str]) -> Iterator[Edit]:
    """For a package under another name: the index that the old name was taken from.

    The old name's source goes away, unless the project still asks for it (it is in `named`), or
    unless the file is laid out so that it can't: what nothing names does no harm.
    """
    for source in project.sources:
        new = swap.swaps.get(PackageKey(source.package))
        if new is None or source.kind != "index":
            continue
        why = f"{new} takes the place of {source.package}"
        if source.package not in named:
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
