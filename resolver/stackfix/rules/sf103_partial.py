"""SF103: code for a part only.

What: some of the wheel's kernels run on the card and others have no code for it.

Why: this passes every quick test and fails later: cuDNN finds no engine for one convolution shape
(CUDNN_STATUS_EXECUTION_FAILED), or `torch.linalg` has no kernel image where `torch.matmul` works.

Evidence: measured. The share of containers with code for the card, over the libraries' containers
that are built for two generations of cards or more.

Fix: move to a release whose libraries all carry code for the card (`stackfix plan`).

Ignore: `[tool.stackfix] ignore = [{ code = "SF103", package = "…", reason = "…" }]`, where the
operations concerned are known not to be used.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece
from stackfix.model.target import Target
from stackfix.rules import wording
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.wheels.coverage import Support


class PartialCode:
    code = "SF103"
    title = "code for a part only"

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        if not piece.wheel or not piece.wheel.coverage:
            return
        coverage = piece.wheel.coverage
        if coverage.support(target.capability) is not Support.PARTIAL:
            return
        yield Finding(
            code=self.code,
            severity=Severity.ERROR,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"{piece.title} has code for compute capability {target.capability} "
            f"in a part only: {wording.shares(coverage, target.capability)}",
            evidence=wording.code_evidence(piece.wheel),
        )
