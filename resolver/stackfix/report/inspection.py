"""What was inspected, as one document: `schema/inspect-1.json` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stackfix.report.json import finding_document, target_document
from stackfix.report.libraries import libraries_of, verdicts_of

if TYPE_CHECKING:
    from stackfix.model.finding import Finding
    from stackfix.model.target import Target
    from stackfix_index.errors import Unreadable
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.inspect.package import Inspected

__all__ = ["SCHEMA", "inspection_document"]

SCHEMA = 1


def inspection_document(
    packages: Sequence[Inspected],
    faults: Sequence[Unreadable],
    targets: Sequence[Target],
    findings: Sequence[Finding],
    graph: Graph,
) -> dict[str, Any]:
    """The packages with their verdicts, all their libraries, and what could not be read.

    Packages that hold neither GPU code nor a PTX assembler are counted only, unless they are a
    build for the processor alone of one that should.
    """
    shown = [one for one in packages if _matters(one)]
    return {
        "schema": SCHEMA,
        "targets": [target_document(target) for target in targets],
        "packages": [_package(one, targets) for one in shown],
        "libraries": [
            {**library, "package": one.package, "place": str(one.place)}
            for one in shown
            for library in libraries_of(one.wheel, targets)
        ],
        "without_gpu_code": len(packages) - len(shown),
        "findings": [finding_document(finding) for finding in findings],
        "faults": [
            {"file": fault.source, "place": fault.place, "expected": fault.expected}
            for fault in faults
        ],
        "knowledge": graph.version,
    }


def _matters(inspected: Inspected) -> bool:
    wheel = inspected.wheel
    has_code = wheel.coverage is not None and wheel.coverage.has_device_code
    return has_code or bool(wheel.ptxas) or wheel.cpu_only


def _package(inspected: Inspected, targets: Sequence[Target]) -> dict[str, Any]:
    wheel = inspected.wheel
    return {
        "package": inspected.package,
        "version": str(inspected.version) if inspected.version else None,
        "file": wheel.file,
        "place": str(inspected.place),
        "platform": wheel.platform,
        "cuda": str(wheel.cuda) if wheel.cuda else None,
        "cpu_only": wheel.cpu_only,
        "built_against": {name: str(version) for name, version in wheel.built_against.items()},
        "needs": list(wheel.needs),
        "ptxas": [{"cuda": one.cuda, "targets": list(one.targets)} for one in wheel.ptxas],
        "architectures": [str(one) for one in wheel.coverage.architectures()]
        if wheel.coverage
        else [],
        "verdicts": verdicts_of(wheel, targets),
    }
