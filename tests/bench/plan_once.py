"""Child: one whole plan with its time inside uv and its memory, as JSON. `PROJECT TARGET OUT`."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

started = time.perf_counter()


def main(path: str, target: str, out: str) -> None:
    from stackfix_lockfiles.uv import Uv

    inside_uv = 0.0
    plain_run = Uv.run

    def timed_run(self: Uv, *arguments: Any, **settings: Any) -> Any:
        nonlocal inside_uv
        begun = time.perf_counter()
        try:
            return plain_run(self, *arguments, **settings)
        finally:
            inside_uv += time.perf_counter() - begun

    Uv.run = timed_run  # type: ignore[method-assign]

    from stackfix.cli.asking import find_project, graph_of
    from stackfix.plan.propose import propose
    from stackfix.plan.request import Request
    from stackfix.report.plan import save_plan
    from stackfix.targets.parse import parse_target

    project = find_project(Path(path))
    graph = graph_of(project)
    plan = propose(
        Request(project=project, graph=graph, targets=(parse_target(target, graph.gpus),))
    )
    save_plan(plan, Path(out))
    result = {
        "status": plan.status.value,
        "moves": len(plan.moves),
        "seconds": time.perf_counter() - started,
        "inside_uv": inside_uv,
        # Linux counts in KiB.
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "peak_uv_mib": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
