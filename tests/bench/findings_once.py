"""Child: read a project, walk its lock and judge it, as a CI gate would. `PROJECT TARGET`."""

from __future__ import annotations

import sys

from stackfix.cli.asking import find_project, graph_of
from stackfix.plan.request import Request
from stackfix.plan.sites import ground
from stackfix.targets.parse import parse_target


def main(path: str, target: str) -> None:
    project = find_project(path)
    graph = graph_of(project)
    request = Request(project=project, graph=graph, targets=(parse_target(target, graph.gpus),))
    findings = ground(project.read_lock(), request).findings(graph)
    sys.stdout.write(f"{len(findings)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
