"""SF504: superseded versions left in a fork.

What: the lock keeps an older version of a library that the targets' environments have moved past,
in a fork that none of them installs.

Why: the fork comes alive on another machine or with another extra, and brings the old fault back.

Evidence: the lock itself.

Fix: `stackfix plan` moves every fork; or `uv lock --upgrade-package NAME`.

Ignore: `[tool.stackfix] ignore = [{ code = "SF504", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Stack
from stackfix_knowledge.graph import Graph


class Superseded:
    code = "SF504"
    title = "superseded versions left in a fork"

    def judge(
        self, locked: dict[str, tuple[str, ...]], stacks: tuple[Stack, ...], graph: Graph
    ) -> Iterator[Finding]:
        watched = graph.packages.loaded_once
        for name, versions in locked.items():
            package = graph.packages.get(name)
            if package is None or package.provides not in watched or len(versions) < 2:
                continue
            installed = {piece.version for s in stacks if (piece := s.get(name))}
            if not installed:
                continue
            for version in versions:
                if Version(version) >= min(installed):
                    continue
                yield Finding(
                    code=self.code,
                    severity=Severity.WARNING,
                    package=name,
                    version=version,
                    message=f"{name} {version} stays in a fork of the lock that no target "
                    f"installs; the targets use {min(installed)}",
                )
