"""SF401: a known bug whose conditions the target meets.

What: an advisory names this release, and the target has the card, the number of cards or the
platform that the bug needs.

Why: crashes, hangs and wrong results that no amount of pin-reading shows.

Evidence: reported or documented (release notes, issue threads), with both ends of the range. The
severity is the advisory's: an error only where everything that triggers the bug can be read off the
target; conditions that cannot be seen from here are named in the message.

Fix: a release outside the range, or the workaround that the advisory names.

Ignore: `[tool.stackfix] ignore = [{ code = "SF401", package = "…", reason = "…" }]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.rules.finding import Finding, Severity
from stackfix.stack import Piece
from stackfix.targets.target import Target
from stackfix_knowledge.graph import Graph


class KnownBug:
    code = "SF401"
    title = "a known bug whose conditions the target meets"

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        for advisory in graph.advisories(piece.name):
            if not advisory.affects(piece.version):
                continue
            if not advisory.applies(
                capability=target.capability, count=target.count, platform=target.platform
            ):
                continue
            unseen = "; ".join(advisory.unseen)
            yield Finding(
                code=self.code,
                severity=Severity(advisory.severity),
                package=piece.name,
                version=str(piece.version),
                target=target,
                message=f"{piece.title}: {advisory.summary}"
                + (f" (if {unseen})" if unseen else ""),
                evidence=advisory.evidence,
                fix=advisory.workaround,
            )
