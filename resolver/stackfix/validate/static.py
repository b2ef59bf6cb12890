"""The stage that needs no card: every binary of an environment read, and judged for the targets.

Runs in a process of its own, `python -m stackfix.validate.static REQUEST FILE`. `REQUEST` is the
JSON of an `InspectionRequest`; what is found goes to `FILE`, reported as kernels do.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from stackfix.documents.document import Document, as_json
from stackfix.documents.reading import parse
from stackfix.documents.target import TargetDocument
from stackfix.model.policy import Policy
from stackfix.model.target import Target

__all__ = ["InspectionRequest", "inspection_argument", "main"]


class InspectionRequest(Document):
    """What the process is asked."""

    sites: tuple[str, ...]
    """Folders of packages."""
    targets: tuple[TargetDocument, ...]
    knowledge: tuple[str, ...]
    """Files with the project's own facts."""
    policy: Policy
    """What the project decides about findings."""


def inspection_argument(
    sites: Sequence[Path],
    targets: Sequence[Target],
    knowledge: Sequence[Path],
    policy: Policy,
) -> str:
    """The request as the process's one argument."""
    request = InspectionRequest(
        sites=tuple(map(str, sites)),
        targets=tuple(TargetDocument.of(target) for target in targets),
        knowledge=tuple(map(str, knowledge)),
        policy=policy,
    )
    return json.dumps(as_json(request))


def main(arguments: Sequence[str]) -> int:
    """Judge and tell; 1 where something does not run on a target."""
    request = parse(arguments[0], InspectionRequest, Path("REQUEST"), writer="stackfix validate")
    with open(arguments[1], "a", encoding="utf-8") as file:
        return _judge(request, file)


def _judge(request: InspectionRequest, file: IO[str]) -> int:
    from stackfix.audit.binaries import judge_inspected, package_verdict
    from stackfix.model.finding import Severity
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.inspect.inspection import inspect_path

    targets = tuple(document.target() for document in request.targets)
    policy = request.policy
    graph = Graph.load([Path(path) for path in request.knowledge])
    processes = min(os.cpu_count() or 1, 4)
    failed = False
    for site in request.sites:
        inspection = inspect_path(Path(site), processes=processes)
        for one in inspection.packages:
            coverage = one.wheel.coverage
            if not (coverage and coverage.has_device_code) and not one.wheel.cpu_only:
                continue
            known = graph.packages.get(one.package) if one.package else None
            if known is not None and not known.judged:
                continue
            name = f"{one.package} {one.version}" if one.package else str(one.place)
            _report(file, "started", check=name)
            found = list(policy.applied(judge_inspected([one], targets, graph)))
            bad = [finding for finding in found if policy.is_fault(finding)]
            warned = [f for f in found if f.severity is Severity.WARNING and f not in bad]
            states = ", ".join(
                f"{target.short}: {verdict.state.value if verdict.state else 'not judged'}"
                for target in targets
                for verdict in (package_verdict(one.wheel, target.capability),)
            )
            failed = failed or bool(bad)
            said = "; ".join(dict.fromkeys(finding.message for finding in (*bad, *warned)))
            _report(file, "failed" if bad else "passed", check=name, detail=said or states)
        for fault in inspection.faults:
            failed = True
            _report(file, "failed", check=fault.source, detail=str(fault))
    _report(file, "end")
    return 1 if failed else 0


def _report(file: IO[str], event: str, **more: str) -> None:
    file.write(json.dumps({"event": event, **more}) + "\n")
    file.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
