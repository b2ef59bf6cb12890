"""SF303: a coupling that metadata does not state.

What: two packages only work together in certain pairs, and their metadata does not say so:
torchcodec and torch, nvJitLink and cuSPARSE, a plugin and its framework. Or both were built for
different CUDAs, which torchvision and torchaudio compare with that of torch.

Why: the resolver is free to pair them wrongly, and so is a project that takes torch alone from an
index of PyTorch's. The import then fails with an undefined symbol, a missing library or an error.

Evidence: documented (the project's own table) or measured (the symbols and sonames of both, the
code that compares).

Fix: versions that belong together (`stackfix plan`).

Ignore: `[tool.stackfix] ignore = [{ code = "SF303", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.couplings import Coupling


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


class OtherCuda:
    """Builds for different CUDAs, which one of the two compares."""

    code = UnstatedCoupling.code
    title = UnstatedCoupling.title

    def judge(self, stack: Stack, target: Target, graph: Graph) -> Iterator[Finding]:
        for piece in stack:
            for check in graph.cuda_checks(piece.name, piece.version):
                other = stack.get(check.beside)
                own = piece.wheel.cuda if piece.wheel else None
                theirs = other.wheel.cuda if other and other.wheel else None
                if other is None or own is None or theirs is None:
                    continue
                if check.met(own, theirs, graph.cuda):
                    continue
                yield Finding(
                    code=self.code,
                    severity=Severity.ERROR,
                    package=piece.name,
                    version=str(piece.version),
                    target=target,
                    message=f"{piece.title} is built with CUDA {own} and {other.title} with CUDA "
                    f"{theirs}: {check.effect}",
                    evidence=check.evidence,
                    fix=f"take both from one index ({piece.name} and {other.name})",
                )
