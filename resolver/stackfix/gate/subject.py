"""What is checked: one file, and all that decides how it is judged."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.audit.lock_audit import Audit, audit
from stackfix.audit.lock_files import LockFile, parse, project_of, python_beside
from stackfix.audit.settings import declaring, overlays, policy, settings_of
from stackfix.model.policy import Policy
from stackfix.model.selection import EVERYTHING, Selection
from stackfix.model.target import Target
from stackfix.targets.select import select_targets
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.project import Project, shown

if TYPE_CHECKING:
    from stackfix.gate.base import Base

__all__ = ["Options", "Subject", "subject_of"]


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


def subject_of(file: LockFile, options: Options) -> Subject:
    """A file with its project, facts, targets and policy.

    Raises InputError, TargetError and FactsError.
    """
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


@lru_cache(maxsize=8)
def _graph(overlays: tuple[Path, ...]) -> Graph:
    """The facts, read once for all files of a run that add the same ones."""
    return Graph.load(overlays)
