"""SF109: nobody measured it.

What: the package holds GPU code, and no fact says which cards this release runs on.

Why: unknown is not supported and not unsupported. A plan prefers releases that are known.

Evidence: none, which is the finding.

Fix: measure it, `stackfix knowledge measure PKG==VERSION --into facts.toml`, and let the project
use what was found: `[tool.stackfix] knowledge = ["facts.toml"]`. That is also the place for facts
about a build of your own.

Ignore: `[tool.stackfix] ignore = [{ code = "SF109", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.wheels.coverage import Support


def is_unknown(piece: Piece, target: Target) -> bool:
    """Whether it holds GPU code and nothing is known about that code on the target's card."""
    return (
        piece.package.judged
        and not (piece.wheel and piece.wheel.cpu_only)
        and piece.support(target.capability) is Support.UNKNOWN
    )


class Unmeasured:
    code = "SF109"
    title = "nobody measured it"

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        if not is_unknown(piece, target):
            return
        yield Finding(
            code=self.code,
            severity=Severity.INFO,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"{piece.title} keeps its GPU code in a form that cannot be read"
            if piece.wheel and piece.wheel.coverage
            else f"nobody measured which cards {piece.title} runs on ({target.platform})",
        )
