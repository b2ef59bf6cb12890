"""All that is known about a package, as one document: `schema/package-1.json` describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stackfix.report.ties import bugs_of, collisions_of, couplings_of, evidence_of

if TYPE_CHECKING:
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.wheels.release import Release

__all__ = ["SCHEMA", "package_document"]

SCHEMA = 1


def package_document(name: str, graph: Graph) -> dict[str, Any]:
    """The package's releases with what is known of their wheels, its bugs and its ties."""
    package = graph.packages.get(name)
    releases = graph.releases(name)
    return {
        "schema": SCHEMA,
        "package": name,
        "role": package.role.value if package else None,
        "family": package.family if package else None,
        "judged": package.judged if package else None,
        "versions": [str(release.version) for release in releases],
        "releases": [_release(release) for release in releases],
        "known_bugs": bugs_of(name, graph),
        "couplings": couplings_of(name, graph),
        "collisions": collisions_of(name, graph),
        "knowledge": graph.version,
    }


def _release(release: Release) -> dict[str, Any]:
    return {
        "version": str(release.version),
        "date": release.date,
        "yanked": release.yanked,
        "index": release.home,
        "wheels": [
            {
                "file": wheel.file,
                "platform": wheel.platform,
                "cuda": str(wheel.cuda) if wheel.cuda else None,
                "cpu_only": wheel.cpu_only,
                "measured": wheel.coverage is not None,
                "evidence": evidence_of(wheel.evidence),
            }
            for wheel in release.wheels
        ],
    }
