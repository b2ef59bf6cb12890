"""From what a person chose to what the planner is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from stackfix.cli.options import Choice
from stackfix.cli.printing import print_note
from stackfix.plan.request import Request, Strategy
from stackfix.targets.select import Selected, select_targets
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.project import Project
from stackfix_lockfiles.pyproject import Pyproject

if TYPE_CHECKING:
    from stackfix.host.host import Host
    from stackfix.report.plan import SavedPlan

__all__ = ["find_project", "graph_of", "machine", "project_of_plan", "request_of"]


def find_project(path: Path | None) -> Project:
    """The project at or above `path`, else at or above the current folder.

    What a killed `apply` left there is mended first.
    """
    from stackfix_lockfiles.transaction import recover

    path = path or Path()
    project = Project.find(path)
    if mended := recover(project.root):
        print_note(mended)
        project = Project.find(path)
    return project


def project_of_plan(saved: SavedPlan, path: Path | None) -> Project:
    """The project of a saved plan, unless the command line or the folder names another copy."""
    return find_project(saved.root if path is None and saved.root.is_dir() else path)


def settings_of(project: Project) -> Pyproject | None:
    """The file whose `[tool.stackfix]` counts for a project."""
    from stackfix.audit import settings

    return settings.settings_of(project, project.root)


def graph_of(project: Project | None) -> Graph:
    """The shipped facts and those that the project adds: `[tool.stackfix] knowledge`."""
    from stackfix.audit.settings import overlays

    return Graph.load(overlays(settings_of(project)) if project else ())


def machine(graph: Graph) -> Host:
    """This machine."""
    from stackfix.host.detect import detect

    return detect(gpus=graph.gpus)


def request_of(
    choice: Choice,
    project: Project,
    graph: Graph,
    *,
    strategy: str = Strategy.LEAST_CHANGE,
    keep: tuple[str, ...] = (),
    require: tuple[str, ...] = (),
    allow_override: bool = False,
    why: tuple[str, ...] = (),
    why_not: tuple[str, ...] = (),
    progress: Callable[[str], None] | None = None,
) -> tuple[Request, Selected]:
    """The request, and who named its targets. Raises what naming targets can raise."""
    from stackfix.audit.settings import declaring, policy

    settings = settings_of(project)
    selected = select_targets(
        named=choice.targets,
        hosts=choice.hosts,
        declared=declaring(project, project.root),
        gpus=graph.gpus,
        machine=lambda: machine(graph),
        platforms=choice.platforms,
    )
    request = Request(
        project=project,
        graph=graph,
        targets=selected.targets,
        policy=policy(settings),
        python=choice.python,
        extras=choice.extras,
        groups=choice.groups,
        all_extras=choice.all_extras,
        strategy=Strategy(strategy),
        keep=keep,
        require=require,
        allow_override=allow_override,
        why=why,
        why_not=why_not,
        progress=progress,
        offline=choice.offline,
    )
    return request, selected
