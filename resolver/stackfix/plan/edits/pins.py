"""The edits that make a solution hold: requirements moved, and bounds set where `uv lock --upgrade`
would otherwise bring a fault back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.plan.edits.index_edits import IndexEdits
from stackfix.plan.edits.scope import EVERYWHERE, Scope
from stackfix.plan.edits.variant_edits import with_swap
from stackfix.solve.candidates import Candidates
from stackfix.solve.preference import VersionFindings
from stackfix.solve.problem import Problem
from stackfix.solve.specifier import admitting, bound_below
from stackfix.solve.terms import StackRequirement
from stackfix.solve.upgrade import relapse
from stackfix_lockfiles import edits as editing
from stackfix_lockfiles.edits import Edit
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.requirement import DeclaredRequirement

__all__ = ["edits_for"]

ROUNDS = 16
"""Bounds set one after another before it is given up; each round sets or lowers one."""


@dataclass(frozen=True, slots=True)
class _Bound:
    below: Version
    why: str


def edits_for(
    project: Project,
    problem: Problem,
    findings: VersionFindings,
    versions: Mapping[str, Version],
    where: Scope = EVERYWHERE,
) -> tuple[Edit, ...]:
    """The edits of pyproject files for a solution.

    A requirement is edited when it excludes the chosen version, or when it admits a newer one that
    a target can't run. A package that the project does not name gets a constraint instead. Nothing
    of the extras and groups that `where` excludes is edited.

    Raises:
        ValueError: a requirement excludes the chosen version by name (`!=`, `===`).
    """
    project, respelled = with_swap(project, problem, where)
    bounds: dict[str, _Bound] = {}
    for _ in range(ROUNDS):
        found = relapse(problem, findings, versions, _asked(project, versions, bounds, where))
        known = bounds.get(found.package) if found else None
        if found is None or (known is not None and known.below <= found.below):
            break
        bounds[found.package] = _Bound(found.below, found.message)
    edits = [e for name in versions for e in _moved(project, name, versions[name], bounds, where)]
    for name, bound in bounds.items():
        if not _written(project, name, where):
            edits += _named(project, f"{name}<{bound_below(bound.below)}", where, bound.why)
    edits += _without_overrides(project, problem, versions)
    edits += _reindexed(project, problem, versions, where)
    edits += _overridden(project, problem, versions)
    return tuple(_joined((*respelled, *edits)))


def _joined(edits: Iterable[Edit]) -> Iterator[Edit]:
    """The edits, those one after another of the same string as one."""
    waiting: dict[tuple[object, ...], Edit] = {}
    for edit in edits:
        place = (edit.file, edit.keys, edit.index)
        before = waiting.get(place) if edit.index is not None else None
        if before is not None and before.new == edit.old:
            waiting[place] = replace(edit, old=before.old, why=f"{before.why}; {edit.why}")
        else:
            waiting[place if edit.index is not None else (id(edit),)] = edit
    yield from waiting.values()


def _written(project: Project, name: str, where: Scope) -> list[DeclaredRequirement]:
    """Requirements and constraints on a package that carry a specifier of their own.

    Those of the chosen extras and groups alone, where they name the package.
    """
    found = [
        declared
        for declared in (*project.requirements, *project.constraints)
        if declared.name == name and declared.requirement.url is None
    ]
    own = [declared for declared in found if where.owns(declared, project)]
    return own or [declared for declared in found if where.reaches(declared, project)]


def _named(project: Project, text: str, where: Scope, why: str) -> list[Edit]:
    """A limit on a package that only others need: a constraint, or asked for by the chosen ones."""
    if not where.chosen:
        return [editing.add_constraint(project, text, why=why)]
    return [
        editing.add_requirement(
            project, text, package=item.package, extra=item.extra, group=item.group, why=why
        )
        for item in where.chosen
    ]


def _asked(
    project: Project,
    versions: Mapping[str, Version],
    bounds: Mapping[str, _Bound],
    where: Scope,
) -> dict[str, SpecifierSet]:
    """What the project would ask of each package of the stack after the edits."""
    asked: dict[str, SpecifierSet] = {}
    for name, version in versions.items():
        bound = bounds.get(name)
        joint = SpecifierSet(f"<{bound.below.public}" if bound else "")
        for declared in _written(project, name, where):
            text = admitting(declared.requirement.specifier, version)
            joint &= declared.requirement.specifier if text is None else SpecifierSet(text)
        asked[name] = joint
    return asked


def _moved(
    project: Project,
    name: str,
    version: Version,
    bounds: Mapping[str, _Bound],
    where: Scope,
) -> Iterator[Edit]:
    """Edits of the requirements on one package."""
    bound = bounds.get(name)
    for declared in _written(project, name, where):
        specifier = declared.requirement.specifier
        text = admitting(specifier, version, below=bound.below if bound else None)
        if text is None:
            continue
        if specifier.contains(version.public, prereleases=True):
            assert bound is not None  # nothing else changes a specifier that admits the version
            why = bound.why
        else:
            why = f"excludes {name} {version.public}"
        yield editing.replace_requirement(declared, text, why=why)


def _without_overrides(
    project: Project, problem: Problem, versions: Mapping[str, Version]
) -> Iterator[Edit]:
    """Overrides that the solution was found without, of the stack and around it."""
    overrides = {d.name: d.requirement.specifier for d in project.overrides}
    for name, specifier in overrides.items():
        needless = name in versions or not problem.graph.packages.is_stack(name)
        if specifier and needless and name not in problem.overrides:
            why = f"holds {name}{specifier}, which this move does without"
            yield from editing.remove_override(project, name, why=why)


def _reindexed(
    project: Project, problem: Problem, versions: Mapping[str, Version], where: Scope
) -> Iterator[Edit]:
    """Sources and indexes for packages that the solution takes from elsewhere than the lock.

    A source does nothing for a package that is only a dependency of another: such a one also gets
    a constraint, which makes the project name it.
    """
    index_edits = IndexEdits(project, problem, versions, where)
    yield from index_edits.edits()
    for name, index in index_edits.moved().items():
        if index is not None and not _written(project, name, where):
            version = versions[name]
            why = f"{name} {version} comes from this index"
            yield from _named(project, f"{name}=={version.public}", where, why)


def _overridden(
    project: Project, problem: Problem, versions: Mapping[str, Version]
) -> Iterator[Edit]:
    """Overrides for libraries that the solution has at another version than a framework pins."""
    if not problem.relaxed:
        return
    strict = Candidates(replace(problem, relaxed=frozenset()))
    for name, version in versions.items():
        for requirement in strict.dependencies(strict.at(name, version)):
            if not isinstance(requirement, StackRequirement) or requirement.key.extra:
                continue
            library, specifier = requirement.name, requirement.specifier
            chosen = versions.get(library)
            if library not in problem.relaxed or chosen is None:
                continue
            if not specifier.contains(chosen, prereleases=True):
                why = (
                    f"{requirement.origin} was tested with {library}{specifier}; "
                    f"take this out when {name} moves"
                )
                yield editing.add_override(project, f"{library}=={chosen.public}", why=why)
