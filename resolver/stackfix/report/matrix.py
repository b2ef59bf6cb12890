"""A package's releases by the cards they suit, as a document: `schema/matrix-1.json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stackfix.audit.binaries import package_verdict
from stackfix_knowledge.wheels.coverage import Support

if TYPE_CHECKING:
    from stackfix_knowledge.graph import Graph
    from stackfix_knowledge.hardware import ComputeCapability
    from stackfix_knowledge.wheels.release import Release

__all__ = ["SCHEMA", "matrix_document"]

SCHEMA = 1


def matrix_document(
    name: str,
    graph: Graph,
    cards: Sequence[ComputeCapability],
    *,
    platform: str,
    builds: bool = False,
) -> dict[str, Any]:
    """A row for each release that has a wheel for the platform, versions ascending.

    Without `builds`, those of PyTorch's own indexes are left out. `disputed` names the cards
    where the vendor's matrix says otherwise.
    """
    package = graph.packages.get(name)
    return {
        "schema": SCHEMA,
        "package": name,
        "platform": platform,
        "judged": package.judged if package else True,
        "capabilities": [str(card) for card in cards],
        "releases": [
            _row(release, graph, cards, platform)
            for release in graph.releases(name)
            if (builds or release.version.local is None) and release.wheel(platform)
        ],
        "knowledge": graph.version,
    }


def _row(
    release: Release, graph: Graph, cards: Sequence[ComputeCapability], platform: str
) -> dict[str, Any]:
    wheel = release.wheel(platform)
    assert wheel is not None
    states = {card: package_verdict(wheel, card).state or Support.UNKNOWN for card in cards}
    matrix = graph.matrix(release.package, release.version)
    disputed = [
        str(card)
        for card, state in states.items()
        if matrix is not None
        and state is not Support.UNKNOWN
        and matrix.lists(card) != (state in (Support.SUPPORTED, Support.JIT))
    ]
    return {
        "version": str(release.version),
        "date": release.date,
        "yanked": release.yanked,
        "index": release.home,
        "cuda": str(wheel.cuda) if wheel.cuda else None,
        "cpu_only": wheel.cpu_only,
        "evidence": sorted({evidence.kind.value for evidence in wheel.evidence}),
        "states": {str(card): state.value for card, state in states.items()},
        "disputed": disputed,
    }
