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

from collections.abc import Iterator, Mapping

from packaging.version import Version

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.advisories import Advisory

CODE = "SF401"
TITLE = "a known bug whose conditions the target meets"


class KnownBug:
    """Bugs that one package has by itself."""

    code = CODE
    title = TITLE

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        for advisory in graph.advisories(piece.name):
            if not advisory.conditions.beside:
                yield from _found(advisory, piece, target, {})


class KnownBugTogether:
    """Bugs that need another package beside the faulty one."""

    code = CODE
    title = TITLE

    def judge(self, stack: Stack, target: Target, graph: Graph) -> Iterator[Finding]:
        installed = {piece.name: piece.version for piece in stack}
        for piece in stack:
            for advisory in graph.advisories(piece.name):
                if advisory.conditions.beside:
                    yield from _found(advisory, piece, target, installed)


def _found(
    advisory: Advisory, piece: Piece, target: Target, installed: Mapping[str, Version]
) -> Iterator[Finding]:
    if not advisory.affects(piece.version):
        return
    met = advisory.conditions.met(
        capability=target.capability,
        count=target.count,
        platform=target.platform,
        segment=target.segment,
        driver=target.driver,
        installed=installed,
    )
    if met is False:
        return
    severity = Severity(advisory.severity)
    if met is None and severity is Severity.ERROR:
        severity = Severity.WARNING
    unseen = "; ".join(advisory.conditions.unobservable)
    yield Finding(
        code=CODE,
        severity=severity,
        package=piece.name,
        version=str(piece.version),
        target=target,
        message=f"{piece.title}: {advisory.summary}" + (f" (only if {unseen})" if unseen else ""),
        evidence=advisory.evidence,
        fix=advisory.workaround.text if advisory.workaround else None,
    )
