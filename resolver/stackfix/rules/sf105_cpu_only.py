"""SF105: CPU-only build on a GPU target.

What: the wheel that would be installed holds no GPU code at all, though the package has builds
that do.

Why: everything installs and runs, on the CPU. It happens without a word on Windows, on aarch64
before torch 2.11, and where a "+cpu" build or index stands in the lock.

Evidence: measured or metadata (the wheel of this platform), the version's local part, or
PyTorch's CPU index, which has versions without one for some platforms.

Fix: a release or an index whose wheel for this platform is a CUDA build.

Ignore: `[tool.stackfix] ignore = [{ code = "SF105", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph


class CpuOnly:
    code = "SF105"
    title = "CPU-only build on a GPU target"

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        source = piece.locked.source.index if piece.locked is not None else None
        by_name = piece.version.local == "cpu" or source == graph.indexes.url("cpu")
        by_facts = piece.wheel is not None and piece.wheel.cpu_only
        if not piece.package.judged or not (by_name or by_facts):
            return
        yield Finding(
            code=self.code,
            severity=Severity.ERROR,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"{piece.title} is a CPU-only build on {target.platform}: "
            f"the {target.gpu} would stay idle",
            evidence=piece.wheel.evidence if piece.wheel and by_facts else (),
        )
