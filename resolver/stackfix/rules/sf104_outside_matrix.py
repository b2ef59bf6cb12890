"""SF104: outside the vendor's matrix.

What: the vendor's support matrix of this release does not list the card's compute capability.

Why: outside the matrix nothing is promised. It confirms a missing or partial code finding; alone,
it is a warning, since binaries sometimes carry code for cards that the matrix leaves out.

Evidence: documented (the matrix of exactly this minor release; one that nobody read is not
guessed).

Fix: a release whose matrix lists the card.

Ignore: `[tool.stackfix] ignore = [{ code = "SF104", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph


class OutsideMatrix:
    code = "SF104"
    title = "outside the vendor's matrix"

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        matrix = graph.matrix(piece.name, piece.version)
        if matrix is None or target.capability in matrix.capabilities:
            return
        listed = sorted(matrix.capabilities)
        yield Finding(
            code=self.code,
            severity=Severity.WARNING,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"the vendor's support matrix for {piece.title} lists compute capabilities "
            f"{listed[0]} to {listed[-1]} and not {target.capability}",
            evidence=matrix.evidence,
        )
