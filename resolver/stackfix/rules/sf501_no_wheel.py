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

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph


class NoWheel:
    code = "SF501"
    title = "no wheel for the target's platform and Python"

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        if not piece.package.judged or not self._missing(piece, target):
            return
        built = piece.locked is not None and piece.locked.sdist is not None
        yield Finding(
            code=self.code,
            severity=Severity.WARNING if built else Severity.ERROR,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"{piece.title} has no wheel for {target.platform} and the project's Python"
            + (": it is built from source against the installed stack" if built else ""),
        )

    @staticmethod
    def _missing(piece: Piece, target: Target) -> bool:
        """Whether no wheel fits: as the lock lists them, else as the facts of the release do.

        Facts hold the Linux wheels of the default index whole, those of other platforms and of
        PyTorch's indexes only in part, so there a missing one means nothing.
        """
        if piece.locked is not None:
            listed = bool(piece.locked.wheels) or piece.locked.sdist is not None
            return listed and piece.file is None
        release = piece.release
        whole = target.platform.startswith("linux_") and release is not None and not release.home
        return whole and release is not None and bool(release.wheels) and piece.wheel is None
