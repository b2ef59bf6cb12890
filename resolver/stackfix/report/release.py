"""All that is known about one release, as one document: `schema/release-1.json` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stackfix.report.json import target_document
from stackfix.report.libraries import libraries_of, verdicts_of
from stackfix.report.ties import bugs_of, collisions_of, couplings_of, evidence_of
from stackfix_knowledge.wheels.coverage import Support

if TYPE_CHECKING:
    from stackfix.model.target import Target
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.wheels.release import Release, WheelFact

__all__ = ["SCHEMA", "release_document"]

SCHEMA = 1


def release_document(
    release: Release,
    graph: Graph,
    *,
    targets: Sequence[Target] = (),
    platform: str = "linux_x86_64",
) -> dict[str, Any]:
    """The release, its wheels with what they run on, its known bugs and what ties it to others.

    `libraries` and `verdicts` are those of the wheel for `platform`.
    """
    name, version = release.package, release.version
    chosen = release.wheel(platform)
    package = graph.packages.get(name)
    return {
        "schema": SCHEMA,
        "package": name,
        "version": str(version),
        "role": package.role.value if package else None,
        "date": release.date,
        "yanked": release.yanked,
        "index": release.home,
        "wheels": [_wheel(wheel, graph) for wheel in release.wheels],
        "platform": platform,
        "targets": [target_document(target) for target in targets],
        "libraries": libraries_of(chosen, targets) if chosen else [],
        "verdicts": verdicts_of(chosen, targets) if chosen else [],
        "vendor_matrix": _matrix(release, graph),
        "known_bugs": bugs_of(name, graph, version),
        "couplings": couplings_of(name, graph, version),
        "collisions": collisions_of(name, graph, version),
        "knowledge": graph.version,
    }


def _wheel(wheel: WheelFact, graph: Graph) -> dict[str, Any]:
    coverage = wheel.coverage
    return {
        "file": wheel.file,
        "sha256": wheel.sha256,
        "platform": wheel.platform,
        "cuda": str(wheel.cuda) if wheel.cuda else None,
        "cpu_only": wheel.cpu_only,
        "requires": None if wheel.requires is None else list(wheel.requires),
        "requires_python": wheel.requires_python,
        "built_against": {name: str(version) for name, version in wheel.built_against.items()},
        "architectures": [str(one) for one in coverage.architectures()] if coverage else None,
        "runs_on": _verdicts(wheel, graph) if coverage else None,
        "needs": list(wheel.needs),
        "ptxas": [{"cuda": one.cuda, "targets": list(one.targets)} for one in wheel.ptxas],
        "evidence": evidence_of(wheel.evidence),
    }


def _verdicts(wheel: WheelFact, graph: Graph) -> dict[str, list[str]]:
    """Every known card's capability by what the wheel's code means for it."""
    assert wheel.coverage is not None
    verdicts: dict[str, list[str]] = {support.value: [] for support in Support}
    for capability in sorted({gpu.capability for gpu in graph.gpus}):
        verdicts[wheel.coverage.support(capability).value].append(str(capability))
    return {support: capabilities for support, capabilities in verdicts.items() if capabilities}


def _matrix(release: Release, graph: Graph) -> dict[str, Any] | None:
    """What the vendor documents for the release; None where nobody read it."""
    matrix = graph.matrix(release.package, release.version)
    if matrix is None:
        return None
    return {
        "documents": str(matrix.documents),
        "capabilities": [str(capability) for capability in sorted(matrix.capabilities)],
        "evidence": evidence_of(matrix.evidence),
    }
