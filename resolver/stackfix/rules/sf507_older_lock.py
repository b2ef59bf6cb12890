"""SF507: the lock is older than what pyproject.toml asks for.

What: a requirement, constraint or override of the project, or the index that its source names, is
not the one that the lock was made for; or a member of the workspace, or the range of Pythons, is
new.

Why: `uv sync` locks anew before it installs, so that other versions come than those that were
judged; `uv sync --locked` and `uv lock --check` fail. It comes from edits of pyproject.toml that
were committed without the lock.

Evidence: the lock itself (uv records there what each member asked for). Markers, and
sources that depend on them, are not compared, since uv rewrites them: a lock without this finding
may still be out of date.

Fix: `uv lock`. `stackfix plan` does that in its copy and plans from there.

Ignore: `[tool.stackfix] ignore = [{ code = "SF507", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stackfix.model.finding import Finding, Severity
from stackfix_knowledge.graph import Graph
from stackfix_lockfiles.outdated import Difference

__all__ = ["OlderLock"]

_MOST = 3
"""Requirements named in the message about packages that are no part of the stack."""


class OlderLock:
    code = "SF507"
    title = "the lock is older than pyproject.toml"

    def judge(self, differences: Sequence[Difference], graph: Graph) -> Iterator[Finding]:
        """One finding for each package of the stack, an error; one for all others, a warning."""
        others = []
        for difference in differences:
            if graph.packages.is_stack(difference.name):
                yield self._finding(Severity.ERROR, difference.name, str(difference))
            else:
                others.append(difference)
        if others:
            named = "; ".join(map(str, others[:_MOST]))
            more = f" and {len(others) - _MOST} more" if len(others) > _MOST else ""
            yield self._finding(Severity.WARNING, others[0].name, f"{named}{more}")

    def _finding(self, severity: Severity, package: str, message: str) -> Finding:
        return Finding(
            code=self.code,
            severity=severity,
            package=package,
            version="",
            message=message,
            fix="uv lock",
        )
