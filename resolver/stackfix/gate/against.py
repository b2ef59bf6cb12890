"""The check of a change: what it makes worse, what it mends, what it moved and for whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.audit.environments import LockedEnvironment
from stackfix.audit.locations import Locations
from stackfix.audit.reading import Subject
from stackfix.gate.compare import compare
from stackfix.gate.hits import hits_of, without_spots
from stackfix.gate.moved import moved
from stackfix.gate.result import Checked
from stackfix.model.target import short_names
from stackfix_lockfiles import _toml
from stackfix_lockfiles.errors import InputError
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.pyproject import Pyproject

if TYPE_CHECKING:
    from stackfix.gate.base import Base
    from stackfix.gate.one import Case, Judged

__all__ = ["against"]


def against(
    checked: Checked, case: Case, after: Subject, result: Judged, spots: Locations
) -> Checked:
    """`checked` with only what the change brought. Targets and policy are those of now.

    A file that the base does not have is new as a whole; one that cannot be read there too, with
    a note. Raises InputError where there is no such base.
    """
    from stackfix.gate.one import judged

    base = case.options.base
    assert base is not None
    checked = replace(checked, base=base.label)
    data = base.read(case.file.path)
    if data is None:
        return _all_new(checked, f"not in {base.label}: all of it is new")
    try:
        before = case.read(data, name=f"{case.name} in {base.label}")
    except InputError as error:
        return _all_new(checked, f"nothing to compare with: {error}")
    old = judged(case, before, _project_then(base, case))
    difference = compare(
        old.found, result.found, (package.name for package in after.packages), case.graph
    )
    names = short_names(case.targets)
    gone = Locations(before, case.project, case.file.path, wanted=False)
    untargeted = tuple(hit for hit in checked.hits if hit.code == "SF500")
    return replace(
        checked,
        hits=(*hits_of(difference.worse, names, spots), *untargeted),
        repaired=tuple(map(without_spots, hits_of(difference.repaired, names, gone))),
        kept=difference.kept,
        moved=moved(
            before.packages,
            after.packages,
            (_places(before, case), _places(after, case)),
            case.targets,
            names,
            case.graph,
        ),
    )


def _all_new(checked: Checked, note: str) -> Checked:
    return replace(checked, notes=(*checked.notes, note))


def _places(subject: Subject, case: Case) -> Mapping[str, Sequence[LockedEnvironment]]:
    platforms = dict.fromkeys(target.platform for target in case.targets)
    return {platform: subject.places.of(platform) for platform in platforms}


def _project_then(base: Base, case: Case) -> Project | None:
    """The project as it was; that of now where that cannot be read."""
    project = case.project
    if project is None:
        return None
    files = []
    for file in project.files:
        data = base.beside(project.root / file.path, case.file.path)
        if data is None:
            continue
        try:
            document = _toml.parse(data, file.shown, what="a pyproject.toml")
        except InputError:
            return project
        files.append(
            Pyproject(path=Path(file.path), shown=file.shown, data=data, document=document)
        )
    if not files or files[0].path != project.main.path:
        return None
    settings = project.uv_config
    if not settings.is_uv_toml:
        settings = replace(settings, file=files[0])
    return replace(project, files=tuple(files), uv_config=settings)
