"""SF302: two wheels install the same file.

What: two packages of the environment write the same path, as the cuDNN and NCCL wheels for CUDA 12
and CUDA 13 do.

Why: the one installed last wins, and the other's framework then loads a library of the wrong CUDA
major. uv locks and installs such pairs without a word.

Evidence: metadata (the RECORD of both wheels).

Fix: one CUDA major per environment (`stackfix plan`).

Ignore: `[tool.stackfix] ignore = [{ code = "SF302", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Stack
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph


class SameFile:
    code = "SF302"
    title = "two wheels install the same file"

    def judge(self, stack: Stack, target: Target, graph: Graph) -> Iterator[Finding]:
        for piece in stack:
            for collision in graph.collisions(piece.name):
                other = stack.get(collision.other)
                if other is None or piece.name > other.name:
                    continue
                if not collision.between(piece.version, other.version):
                    continue
                yield Finding(
                    code=self.code,
                    severity=Severity.ERROR,
                    package=piece.name,
                    version=str(piece.version),
                    target=target,
                    message=f"{piece.title} and {other.title} both install "
                    f"{collision.path}: the one installed last overwrites the other",
                    evidence=collision.evidence,
                )
