"""SF101: no code for the card.

What: the wheel carries GPU code, but neither machine code that the card can run nor PTX that the
driver could compile for it.

Why: the import succeeds, `torch.cuda.is_available()` says True, and the first kernel fails with
"no kernel image is available for execution on the device". In a multi-GPU run the failure often
surfaces in NCCL, which is then blamed.

Evidence: measured. The images of every fatbin container of every library in the wheel, read from
the binaries; where nobody could read them, the build's documented architecture list.

Fix: move to a release built for the card (`stackfix plan`).

Ignore: `[tool.stackfix] ignore = [{ code = "SF101", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece
from stackfix.model.target import Target
from stackfix.rules import wording
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.wheels.coverage import Support


class NoCode:
    code = "SF101"
    title = "no code for the card"

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        if not piece.wheel or not piece.wheel.coverage:
            return
        coverage = piece.wheel.coverage
        if coverage.support(target.capability) is not Support.UNSUPPORTED:
            return
        yield Finding(
            code=self.code,
            severity=Severity.ERROR,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"{piece.title} has no code for compute capability {target.capability}; "
            f"it is built for {wording.architectures(coverage)}",
            evidence=wording.code_evidence(piece.wheel),
        )
