"""SF501: no wheel for the target's platform and Python.

What: the lock holds no file of this GPU package that the target could install without building it.

Why: `uv sync` fails there, or starts a build that needs a compiler and the CUDA toolkit.

Evidence: metadata (the wheels that the lock lists).

Fix: a release with a wheel for the platform and the Python, or another Python.

Ignore: `[tool.stackfix] ignore = [{ code = "SF501", package = "…", reason = "…" }]`, where the
build is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.rules.finding import Finding, Severity
from stackfix.stack import Piece
from stackfix.targets.target import Target
from stackfix_knowledge.graph import Graph


class NoWheel:
    code = "SF501"
    title = "no wheel for the target's platform and Python"

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        locked = piece.locked
        if locked is None or piece.file is not None or not piece.package.judged:
            return
        if not locked.wheels and locked.sdist is None:
            return
        built = locked.sdist is not None
        yield Finding(
            code=self.code,
            severity=Severity.WARNING if built else Severity.ERROR,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"{piece.title} has no wheel for {target.platform} and the project's Python"
            + (": it is built from source against the installed stack" if built else ""),
        )
