"""The case at hand: the request, the lock as it is, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stackfix.plan.ignored import Ignored, kept
from stackfix.plan.request import Request
from stackfix.plan.sites import Ground
from stackfix.rules.finding import Finding

__all__ = ["Case"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What every later step starts from."""

    request: Request
    before: Ground
    findings: tuple[Finding, ...]
    ignored: tuple[Ignored, ...] = ()
    fresh: bytes | None = None
    """The lock that was made for a project without one; None: the project has its own."""

    def kept(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings that the project does not ignore."""
        return kept(findings, self.ignored)
