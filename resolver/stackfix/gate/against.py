"""The check of a change: what it makes worse, what it mends, what it moved and for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from stackfix.audit.environments import LockedEnvironment
from stackfix.audit.locations import Locations
from stackfix.audit.lock_audit import Audit
from stackfix.gate.compare import compare
from stackfix.gate.hits import hits_of, without_locations
from stackfix.gate.moved import moved
from stackfix.gate.result import Checked
from stackfix.model.target import short_names
from stackfix.rules.sf500_not_judged import NotJudged
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project

if TYPE_CHECKING:
    from stackfix.gate.base import Base
    from stackfix.gate.subject import Subject

__all__ = ["against"]


def against(
    checked: Checked, subject: Subject, base: Base, after: Audit, locations: Locations
) -> Checked:
    """`checked` with only what the change brought. Targets and policy are those of now.

    A file that the base does not have is new as a whole; one that cannot be read there too, with
    a note. Raises InputError where there is no such base.
    """
    checked = replace(checked, base=base.label)
    data = base.read(subject.file.path)
    if data is None:
        return _all_new(checked, f"not in {base.label}: all of it is new")
    try:
        name = f"{subject.name} in {base.label}"
        before = subject.audited(data, name, _project_then(base, subject))
    except InputError as error:
        return _all_new(checked, f"nothing to compare with: {error}")
    difference = compare(
        before.found, after.found, (package.name for package in after.lock.packages), subject.graph
    )
    names = short_names(subject.targets)
    gone = Locations(before.lock, subject.project, subject.file.path, wanted=False)
    untargeted = tuple(hit for hit in checked.hits if hit.code == NotJudged.code)
    return replace(
        checked,
        hits=(*hits_of(difference.worse, names, locations), *untargeted),
        repaired=tuple(map(without_locations, hits_of(difference.repaired, names, gone))),
        kept=difference.kept,
        moved=moved(
            before.lock.packages,
            after.lock.packages,
            (_by_platform(before), _by_platform(after)),
            subject.targets,
            names,
            subject.graph,
        ),
    )


def _all_new(checked: Checked, note: str) -> Checked:
    return replace(checked, notes=(*checked.notes, note))


def _by_platform(audited: Audit) -> Mapping[str, Sequence[LockedEnvironment]]:
    platforms = dict.fromkeys(target.platform for target in audited.targets)
    return {platform: audited.environments.of(platform) for platform in platforms}


def _project_then(base: Base, subject: Subject) -> Project | None:
    """The project as it was; that of now where that cannot be read."""
    project = subject.project
    if project is None:
        return None
    files = {
        file.path: data
        for file in project.files
        if (data := base.beside(project.root / file.path, subject.file.path)) is not None
    }
    if project.main.path not in files:
        return None
    try:
        gone = [file.path for file in project.files if file.path not in files]
        return project.without(gone).with_files(files)
    except InputError:
        return project
