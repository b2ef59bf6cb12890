"""SF102: JIT only.

What: the wheel has no machine code for the card, only PTX, which the driver compiles at first use.

Why: the first steps are slow (minutes for large libraries), the compile cache grows, kernels tuned
for the card are missing, and a driver older than the toolkit that wrote the PTX refuses it
(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, error 222). In that case this is an error, else a warning.

Evidence: measured (the images of the wheel), and the vendor's table of toolkits and drivers.

Fix: a release with native code for the card; for the error, also a newer driver.

Ignore: `[tool.stackfix] ignore = [{ code = "SF102", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece
from stackfix.model.target import Target
from stackfix.rules import wording
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.wheels.coverage import Support


class JitOnly:
    code = "SF102"
    title = "JIT only"

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        if not piece.wheel or not piece.wheel.coverage:
            return
        if piece.wheel.coverage.support(target.capability) is not Support.JIT:
            return
        cuda = piece.wheel.cuda
        needed = graph.cuda.toolkit_driver(cuda, target.platform) if cuda else None
        refused = bool(needed and not target.has_libcuda(needed.value))
        message = (
            f"{piece.title} has no native code for compute capability {target.capability}; "
            f"the driver compiles its PTX at first use"
        )
        evidence = wording.code_evidence(piece.wheel)
        if refused and needed:
            message += (
                f", which driver {target.libcuda} cannot: the PTX of CUDA {piece.wheel.cuda} "
                f"needs driver {needed.value}"
            )
            evidence += needed.evidence
        yield Finding(
            code=self.code,
            severity=Severity.ERROR if refused else Severity.WARNING,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=message,
            evidence=evidence,
            fix=f"driver {needed.value} or newer" if refused and needed else None,
        )
