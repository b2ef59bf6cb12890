"""SF303: a coupling that metadata does not state.

What: two packages only work together in certain pairs, and their metadata does not say so:
torchcodec and torch, nvJitLink and cuSPARSE, a plugin and its framework.

Why: the resolver is free to pair them wrongly; the import then fails with an undefined symbol or a
missing library.

Evidence: documented (the project's own table) or measured (the symbols and sonames of both).

Fix: versions that belong together (`stackfix plan`).

Ignore: `[tool.stackfix] ignore = [{ code = "SF303", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.rules.finding import Finding, Severity
from stackfix.stack import Piece, Stack
from stackfix.targets.target import Target
from stackfix_knowledge.couplings import Coupling
from stackfix_knowledge.graph import Graph


class UnstatedCoupling:
    code = "SF303"
    title = "a coupling that metadata does not state"

    def judge(self, stack: Stack, target: Target, graph: Graph) -> Iterator[Finding]:
        for piece in stack:
            for coupling in graph.couplings(piece.name):
                if not coupling.concerns(piece.version):
                    continue
                other = stack.get(coupling.needs)
                met = other and coupling.met(piece.version, other.version)
                if other is None or met:
                    continue
                if met is None:
                    yield self._unknown(piece, other, target, coupling)
                    continue
                yield Finding(
                    code=self.code,
                    severity=Severity(coupling.severity),
                    package=piece.name,
                    version=str(piece.version),
                    target=target,
                    message=f"{piece.title} and {other.title} do not go together: {coupling.why}",
                    evidence=coupling.evidence,
                )

    def _unknown(self, piece: Piece, other: Piece, target: Target, coupling: Coupling) -> Finding:
        return Finding(
            code=self.code,
            severity=Severity.INFO,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"nobody wrote down whether {piece.title} goes with {other.title}",
            evidence=coupling.evidence,
        )
