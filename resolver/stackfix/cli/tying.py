"""Asking the rules about the project at hand, for `diagnose`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stackfix.cli.asking import graph_of, machine, request_of
from stackfix.cli.options import Choice
from stackfix.diagnose.host_context import bearing
from stackfix.diagnose.stack_match import tie
from stackfix.errors import EXPECTED

if TYPE_CHECKING:
    from stackfix.diagnose.diagnosis import Diagnosis, StackMatch
    from stackfix_lockfiles.project import Project

__all__ = ["tie_to_project"]


def tie_to_project(found: Diagnosis, project: Project, *, quiet: bool) -> StackMatch | None:
    """The answer against the project's lock on its targets, this host, or the log's own cards.

    With `quiet` a project that cannot be judged is left out with a note, as nobody asked for it.
    """
    try:
        return _tied(found, project)
    except EXPECTED as error:
        if not quiet:
            raise
        click.echo(f"note: not tied to the project: {' '.join(str(error).split())}", err=True)
        return None


def _tied(found: Diagnosis, project: Project) -> StackMatch:
    from stackfix.plan.lock_state import audited
    from stackfix_lockfiles.lock import Lock

    graph = graph_of(project)
    lock = Lock.read(project.root / "uv.lock")
    named = tuple(dict.fromkeys(gpu.name for c in found.cards if (gpu := graph.gpus.find(c))))
    choice = Choice(
        project=Path(project.root),
        targets=named[:2],
        hosts=(),
        platforms=(),
        python=None,
        extras=(),
        groups=(),
        all_extras=False,
        offline=True,
    )
    request, _ = request_of(choice, project, graph)
    locked: dict[str, list[str]] = {}
    for package in lock.packages:
        if package.version is not None:
            locked.setdefault(package.name, []).append(package.version)
    host = machine(graph)
    findings = audited(request, lock).findings
    tied = tie(found, findings, locked, host.driver, graph.packages)
    return replace(tied, host=bearing(found, host))
