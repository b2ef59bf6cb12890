"""A target environment: one target, and the stack that it would install."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from packaging.markers import Marker
from packaging.version import Version

from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.packages import Package

__all__ = ["TargetEnvironment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetEnvironment:
    """One target with the environment that it would install."""

    target: Target
    stack: Stack
    markers: Mapping[str, str]
    """Marker variables of the platform and Python."""

    @property
    def platform(self) -> str:
        return self.stack.platform

    def holds(self, marker: Marker | None, extra: str = "") -> bool:
        """Whether a marker is true here, with this extra chosen or none."""
        return marker is None or marker.evaluate({**self.markers, "extra": extra})

    def piece(self, graph: Graph, package: Package, version: Version) -> Piece:
        """The package at this version: as the lock has it where it stays, else as facts know it.

        Facts may lack a platform's wheel, or be of another build, where the lock names the file.
        """
        kept = self.stack.get(package.name)
        if kept is not None and kept.version == version:
            return kept
        return Piece.known(graph, package, version, self.platform)
