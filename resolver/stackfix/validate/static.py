"""The stage that needs no card: every binary of an environment read, and judged for the targets.

Runs in a process of its own, `python -m stackfix.validate.static ORDER FILE`. `ORDER` is JSON with
`sites`, `targets`, `knowledge` and `ignored`; what is found goes to `FILE`, told as kernels do.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import IO, Any

from stackfix.audit.ignored import Ignored, kept
from stackfix.model.target import Target
from stackfix.report.json import target_document
from stackfix_knowledge.capability import ComputeCapability
from stackfix_knowledge.driver import DriverVersion

__all__ = ["main", "order_of"]


def order_of(
    sites: Sequence[Path],
    targets: Sequence[Target],
    knowledge: Sequence[Path],
    ignored: Sequence[Ignored],
) -> str:
    """What the process is asked, as its one argument."""
    return json.dumps(
        {
            "sites": [str(site) for site in sites],
            "targets": [target_document(target) for target in targets],
            "knowledge": [str(path) for path in knowledge],
            "ignored": [
                {
                    "code": entry.code,
                    "reason": entry.reason,
                    "package": entry.package,
                    "until": entry.until.isoformat() if entry.until else None,
                }
                for entry in ignored
            ],
        }
    )


def main(arguments: Sequence[str]) -> int:
    """Judge and tell; 1 where something does not run on a target."""
    order = json.loads(arguments[0])
    with open(arguments[1], "a", encoding="utf-8") as file:
        return _judge(order, file)


def _judge(order: Mapping[str, Any], file: IO[str]) -> int:
    from stackfix.audit.binaries import judge_inspected, package_verdict
    from stackfix.model.finding import Severity
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.measure.inspect import inspect_path

    targets = tuple(_target(document) for document in order["targets"])
    ignored = tuple(_ignored(document) for document in order["ignored"])
    graph = Graph.load([Path(path) for path in order["knowledge"]])
    processes = min(os.cpu_count() or 1, 4)
    failed = False
    for site in order["sites"]:
        inspection = inspect_path(Path(site), processes=processes)
        for one in inspection.packages:
            coverage = one.wheel.coverage
            if not (coverage and coverage.has_device_code) and not one.wheel.cpu_only:
                continue
            known = graph.packages.get(one.package) if one.package else None
            if known is not None and not known.judged:
                continue
            name = f"{one.package} {one.version}" if one.package else str(one.place)
            _tell(file, "started", check=name)
            found = kept(judge_inspected([one], targets, graph), ignored)
            bad = [finding for finding in found if finding.severity is Severity.ERROR]
            warned = [finding for finding in found if finding.severity is Severity.WARNING]
            states = ", ".join(
                f"{target.short}: {verdict.state.value if verdict.state else 'not judged'}"
                for target in targets
                for verdict in (package_verdict(one.wheel, target.capability),)
            )
            failed = failed or bool(bad)
            said = "; ".join(dict.fromkeys(finding.message for finding in (*bad, *warned)))
            _tell(file, "failed" if bad else "passed", check=name, detail=said or states)
        for fault in inspection.faults:
            failed = True
            _tell(file, "failed", check=fault.source, detail=str(fault))
    _tell(file, "end")
    return 1 if failed else 0


def _target(document: Mapping[str, Any]) -> Target:
    return Target(
        gpu=document["gpu"],
        capability=ComputeCapability.parse(document["capability"]),
        count=document["count"],
        driver=DriverVersion.parse(document["driver"]) if document["driver"] else None,
        platform=document["platform"],
        memory=document["memory"],
        segment=document["segment"],
        name=document["name"],
    )


def _ignored(document: Mapping[str, Any]) -> Ignored:
    until = document["until"]
    return Ignored(**{**document, "until": date.fromisoformat(until) if until else None})


def _tell(file: IO[str], event: str, **more: str) -> None:
    file.write(json.dumps({"event": event, **more}) + "\n")
    file.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
