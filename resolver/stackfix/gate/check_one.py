"""The check of one file, from its bytes to what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.audit.locations import Locations, in_repository
from stackfix.audit.lock_audit import Audit, audit
from stackfix.audit.lock_files import LockFile, parse, project_of, python_beside, read_bytes
from stackfix.audit.settings import declaring, overlays, policy, settings_of
from stackfix.gate.hits import hits_of
from stackfix.gate.result import Checked, Hit
from stackfix.model.finding import Severity
from stackfix.model.policy import Policy
from stackfix.model.selection import EVERYTHING, Selection
from stackfix.model.target import Target, short_names
from stackfix.rules.sf500_not_judged import NotJudged
from stackfix.targets.select import select_targets
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.project import Project, shown

if TYPE_CHECKING:
    from stackfix.gate.base import Base

__all__ = ["Options", "Subject", "check_one", "unreadable"]

NOT_JUDGED = NotJudged.code
_LINUX = "linux_x86_64"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What holds for every file of a run."""

    targets: tuple[str, ...] = ()
    """As people write them."""
    hosts: tuple[Path, ...] = ()
    platforms: tuple[str, ...] = ()
    selection: Selection = EVERYTHING
    fail_on: str | None = None
    base: Base | None = None
    online: bool = False
    lines: bool = False
    """Whether lines are wanted: reading pyproject.toml for them takes time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One file, and all that decides how it is judged."""

    file: LockFile
    options: Options
    project: Project | None
    graph: Graph
    targets: tuple[Target, ...]
    policy: Policy

    @property
    def name(self) -> str:
        """How errors call the file."""
        return shown(self.file.path.absolute())

    def audited(self, data: bytes, name: str, project: Project | None) -> Audit:
        """A state of the file beside the same state of its project. Raises InputError."""
        return audit(
            parse(data, self.file.kind, name),
            self.targets,
            self.options.selection,
            self.policy,
            graph=self.graph,
            project=project,
            python=python_beside(self.file.path) if project is None else None,
            online=self.options.online,
        )


def check_one(file: LockFile, options: Options) -> Checked:
    """Check one file. Raises InputError, TargetError and FactsError where it cannot be judged."""
    subject = _subject(file, options)
    result = subject.audited(read_bytes(file), subject.name, subject.project)
    locations = Locations(result.lock, subject.project, file.path, wanted=options.lines)
    names = short_names(subject.targets)
    is_stack = subject.graph.packages.is_stack
    checked = Checked(
        path=locations.path,
        targets=tuple(names.values()),
        hits=hits_of(result.found, names, locations),
        gpu_packages=len({one.name for one in result.lock.packages if is_stack(one.name)}),
        unknown=result.unknown,
        unread=result.unread,
        ignored=result.accepted,
        notes=tuple(_notes(result)),
        judged=_environments(result),
        fail_on=subject.policy.fail_on,
    )
    if not subject.targets and checked.gpu_packages:
        checked = replace(checked, hits=(*checked.hits, _no_targets(checked, locations)))
    if options.base is None:
        return checked
    from stackfix.gate.against import against

    return against(checked, subject, options.base, result, locations)


def unreadable(file: LockFile, error: Exception, options: Options) -> Checked:
    """A file that cannot be judged is a finding: the others go on."""
    return Checked(
        path=in_repository(file.path),
        hits=(
            Hit(
                code=NOT_JUDGED,
                severity=Severity.ERROR,
                package=file.path.name,
                version="",
                message=f"not judged: {error}",
            ),
        ),
        fail_on=Severity(options.fail_on or Severity.ERROR),
    )


def _subject(file: LockFile, options: Options) -> Subject:
    project = project_of(file)
    folder = file.path.absolute().parent
    settings = settings_of(project, folder)
    graph = _graph(overlays(settings))
    return Subject(
        file=file,
        options=options,
        project=project,
        graph=graph,
        targets=select_targets(
            named=options.targets,
            hosts=options.hosts,
            declared=declaring(project, folder),
            platforms=options.platforms,
            gpus=graph.gpus,
        ).targets,
        policy=policy(settings, options.fail_on),
    )


def _notes(result: Audit) -> Iterator[str]:
    for entry in result.policy.over:
        what = f"{entry.code} ({entry.package})" if entry.package else entry.code
        yield f"the ignore of {what} ended on {entry.until}: {entry.reason}"
    for choice in result.environments.impossible:
        yield f"{choice.label or 'the plain environment'} cannot be installed: it conflicts"


def _environments(result: Audit) -> tuple[str, ...]:
    labels: dict[str, None] = {}
    for _, environment in result.judged:
        platform = environment.stack.platform
        where = "" if platform == _LINUX else platform
        labels.setdefault(", ".join(part for part in (environment.label, where) if part))
    return tuple(label for label in labels if label)


def _no_targets(checked: Checked, locations: Locations) -> Hit:
    return Hit(
        code=NOT_JUDGED,
        severity=Severity.WARNING,
        package=Path(checked.path).name,
        version="",
        message=f"the lock holds {checked.gpu_packages} GPU packages, and nobody says which cards "
        "they have to run on",
        fix='[tool.stackfix] targets = ["H100:8@550.90"] in pyproject.toml, or --target',
        lock=locations.lock("", ""),
    )


@lru_cache(maxsize=8)
def _graph(overlays: tuple[Path, ...]) -> Graph:
    """The facts, read once for all files of a run that add the same ones."""
    return Graph.load(overlays)
