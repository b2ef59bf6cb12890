"""What ties a package to others, and what is known to be wrong with it, as documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from packaging.version import Version

    from stackfix_knowledge.evidence import Evidence
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.stack.advisories import Advisory

__all__ = ["bugs_of", "collisions_of", "couplings_of", "evidence_of"]


def bugs_of(name: str, graph: Graph, version: Version | None = None) -> list[dict[str, Any]]:
    """The known bugs of a package, or of one version alone."""
    return [
        _advisory(advisory)
        for advisory in graph.advisories(name)
        if version is None or advisory.affects(version)
    ]


def couplings_of(name: str, graph: Graph, version: Version | None = None) -> list[dict[str, Any]]:
    """What the package needs although its metadata does not say so."""
    return [
        {
            "of": str(coupling.versions),
            "needs": coupling.needs,
            "versions": str(coupling.specifiers) if coupling.specifiers is not None else None,
            "relation": coupling.relation.value,
            "why": coupling.why,
            "evidence": evidence_of(coupling.evidence),
        }
        for coupling in graph.couplings(name)
        if coupling.package == name and (version is None or coupling.concerns(version))
    ]


def collisions_of(name: str, graph: Graph, version: Version | None = None) -> list[dict[str, Any]]:
    """The packages that install files which this one installs too."""
    return [
        {
            "with": collision.other,
            "versions": str(collision.other_versions),
            "path": collision.path,
            "evidence": evidence_of(collision.evidence),
        }
        for collision in graph.collisions(name)
        if version is None or collision.versions.contains(version, prereleases=True)
    ]


def evidence_of(evidence: Iterable[Evidence]) -> list[dict[str, Any]]:
    """Each piece with its fields, and the `line` that a report shows."""
    return [one._asdict() | {"kind": one.kind.value, "line": one.describe()} for one in evidence]


def _advisory(advisory: Advisory) -> dict[str, Any]:
    return {
        "id": advisory.id,
        "severity": advisory.severity.value,
        "summary": advisory.summary,
        "effect": advisory.effect,
        "workaround": advisory.workaround.text if advisory.workaround else None,
        "fixed": [str(one.fixed) for one in advisory.ranges if one.fixed],
        "evidence": evidence_of(advisory.evidence),
    }
