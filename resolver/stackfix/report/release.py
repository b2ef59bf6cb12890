"""All that is known about one release, as one document: `stackfix explain PKG==VERSION`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from stackfix_knowledge.coverage import Support

if TYPE_CHECKING:
    from stackfix_knowledge.advisories import Advisory
    from stackfix_knowledge.evidence import Evidence
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.release import Release, WheelFact

__all__ = ["SCHEMA", "release_document"]

SCHEMA = 1


def release_document(release: Release, graph: Graph) -> dict[str, Any]:
    """The release, its wheels with what they run on, its known bugs and what ties it to others."""
    name, version = release.package, release.version
    package = graph.packages.get(name)
    return {
        "schema": SCHEMA,
        "package": name,
        "version": str(version),
        "role": package.role.value if package else None,
        "date": release.date,
        "yanked": release.yanked,
        "index": release.index,
        "wheels": [_wheel(wheel, graph) for wheel in release.wheels],
        "known_bugs": [
            _advisory(advisory) for advisory in graph.advisories(name) if advisory.affects(version)
        ],
        "couplings": [
            {
                "needs": coupling.needs,
                "versions": str(coupling.specifiers) if coupling.specifiers is not None else None,
                "relation": coupling.relation.value,
                "why": coupling.why,
                "evidence": _evidence(coupling.evidence),
            }
            for coupling in graph.couplings(name)
            if coupling.package == name and coupling.concerns(version)
        ],
        "collisions": [
            {
                "with": collision.other,
                "versions": str(collision.other_versions),
                "path": collision.path,
                "evidence": _evidence(collision.evidence),
            }
            for collision in graph.collisions(name)
            if collision.versions.contains(version, prereleases=True)
        ],
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
        "evidence": _evidence(wheel.evidence),
    }


def _verdicts(wheel: WheelFact, graph: Graph) -> dict[str, list[str]]:
    """Every known card's capability by what the wheel's code means for it."""
    assert wheel.coverage is not None
    verdicts: dict[str, list[str]] = {support.value: [] for support in Support}
    for capability in sorted({gpu.capability for gpu in graph.gpus}):
        verdicts[wheel.coverage.support(capability).value].append(str(capability))
    return {support: capabilities for support, capabilities in verdicts.items() if capabilities}


def _advisory(advisory: Advisory) -> dict[str, Any]:
    return {
        "id": advisory.id,
        "severity": advisory.severity.value,
        "summary": advisory.summary,
        "effect": advisory.effect,
        "workaround": advisory.workaround.text if advisory.workaround else None,
        "fixed": [str(one.fixed) for one in advisory.ranges if one.fixed],
        "evidence": _evidence(advisory.evidence),
    }


def _evidence(evidence: Iterable[Evidence]) -> list[dict[str, Any]]:
    return [asdict(one) | {"kind": one.kind.value, "line": one.describe()} for one in evidence]
