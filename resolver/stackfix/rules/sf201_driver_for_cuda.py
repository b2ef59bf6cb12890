"""SF201: driver below the CUDA's minimum.

What: the package is built with a CUDA major that this driver is too old for.

Why: the CUDA runtime refuses to start (error 35, "CUDA driver version is insufficient for CUDA
runtime version"), and frameworks fall back to the CPU or crash at the first call.

Evidence: documented (the vendor's minor-version compatibility table), and the CUDA version that the
wheel was built with.

Fix: a newer driver, where the card is still supported by it; or a release built with an older CUDA
major (`stackfix plan`). On data-centre cards and Jetson, NVIDIA's forward-compatibility libraries
(cuda-compat) stand in for a newer driver: name their version behind the driver's, as in
`--target "A100@535.183.01+580.65.06"` or `compat = "580.65.06"` of a declared target. A host that
loads them says so by itself.

Ignore: `[tool.stackfix] ignore = [{ code = "SF201", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.packages import Role


class DriverForCuda:
    code = "SF201"
    title = "driver below the CUDA's minimum"

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        if target.driver is None:
            return
        cuda = piece.wheel.cuda if piece.wheel else None
        major = cuda.major if cuda else piece.package.cuda_major
        if major is None and piece.package.numbered_as:
            major = piece.version.major
        if major is None or (piece.wheel and piece.wheel.cpu_only):
            return
        minimum = graph.cuda.minimum_driver(major, target.platform)
        if minimum is None or target.has_libcuda(minimum.value):
            return
        advised = graph.cuda.advised_driver(target.capability, minimum.value)
        yield Finding(
            code=self.code,
            severity=Severity.ERROR,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"{piece.title} is built with CUDA {cuda or major}, which needs driver "
            f"{minimum.value} or newer; {target.libcuda} is older",
            evidence=minimum.evidence,
            fix=f"driver {minimum.value} or newer"
            + (", or its cuda-compat package" if target.may_have_compat else "")
            if advised
            else f"no driver helps: none that runs CUDA {major} supports the {target.gpu}",
        )

    def leading(self, found: Sequence[Finding], stack: Stack) -> list[Finding]:
        """`found` without what follows from something else in it.

        One framework of a new CUDA major brings a dozen libraries of it, each with the same fault;
        they are named only where no framework or companion is.
        """
        leaders = {f.target for f in found if f.code == self.code and not self._follows(f, stack)}
        return [
            f
            for f in found
            if f.code != self.code or f.target not in leaders or not self._follows(f, stack)
        ]

    @staticmethod
    def _follows(finding: Finding, stack: Stack) -> bool:
        piece = stack.get(finding.package)
        if piece is None:
            return False
        return piece.package.role is Role.LIBRARY or piece.package.numbered_as is not None
