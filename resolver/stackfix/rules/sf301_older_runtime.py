"""SF301: runtime older than what a framework was built against.

What: the environment brings a cuDNN (or another library) older than the one that torch or jaxlib
was compiled with, or of another major.

Why: frameworks refuse it at run time ("cuDNN version incompatibility", "Loaded runtime CuDNN
library … but source was compiled with …"), or crash. Requires-Dist often understates it.

Evidence: measured (the version compiled into the plugin) or metadata (the version torch pins).

Fix: let both move to versions that agree (`stackfix plan`).

Ignore: `[tool.stackfix] ignore = [{ code = "SF301", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Stack
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph


def satisfies(runtime: Version, built: Version) -> bool:
    """Whether a library of version `runtime` serves a framework built against `built`.

    Same major, minor at least as new: the check of torch/backends/cudnn/__init__.py and of XLA's
    cuda_dnn.cc.
    """
    return runtime.major == built.major and runtime.minor >= built.minor


class OlderRuntime:
    code = "SF301"
    title = "runtime older than what a framework was built against"

    def judge(self, stack: Stack, target: Target, graph: Graph) -> Iterator[Finding]:
        for piece in stack:
            for check in graph.runtime_checks(piece.name):
                built = piece.wheel.built_against.get(check.library) if piece.wheel else None
                if built is None or piece.version not in check.versions:
                    continue
                for runtime in stack.providers(check.library):
                    if satisfies(runtime.version, built):
                        continue
                    yield Finding(
                        code=self.code,
                        severity=Severity.ERROR,
                        package=piece.name,
                        version=str(piece.version),
                        target=target,
                        message=f"{piece.title} was built against {check.library} {built} and "
                        f"does not run with {runtime.title}: {check.effect}",
                        evidence=check.evidence,
                    )
