"""What a project decides about findings: how much each rule matters, and which it accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date

from stackfix.model.finding import Finding, Severity

__all__ = ["DEFAULT_POLICY", "AcceptedFinding", "Policy"]

_RANK = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedFinding:
    """One entry of `[tool.stackfix] ignore`: a code, a package or all, the reason, until when."""

    code: str
    reason: str
    package: str | None = None
    until: date | None = None

    def covers(self, finding: Finding, today: date) -> bool:
        """Whether this entry accepts the finding; an expired one accepts nothing."""
        return (
            finding.code == self.code
            and self.package in {None, finding.package}
            and not self.is_over(today)
        )

    def is_over(self, today: date) -> bool:
        """Whether its last day has passed."""
        return self.until is not None and self.until < today


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How findings count. Every command weighs them by it: what fails `check`, `plan` clears."""

    severities: Mapping[str, Severity | None] = field(default_factory=dict)
    """By code, the severity to use instead of the rule's; None: the rule is off."""
    accepted: tuple[AcceptedFinding, ...] = ()
    fail_on: Severity = Severity.ERROR
    """The least severity that is a fault: it fails a check, and a plan has to clear it."""
    today: date = field(default_factory=date.today)

    def accepts(self, finding: Finding) -> bool:
        """Whether the project lives with a finding."""
        return any(entry.covers(finding, self.today) for entry in self.accepted)

    def weighed(self, finding: Finding) -> Finding | None:
        """The finding with the project's severity; None where its rule is off."""
        severity = self.severities.get(finding.code, finding.severity)
        if severity is None or severity is finding.severity:
            return finding if severity is not None else None
        return replace(finding, severity=severity)

    def applied(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings that count, as they count."""
        for finding in findings:
            if not self.accepts(finding) and (weighed := self.weighed(finding)) is not None:
                yield weighed

    def is_fault(self, finding: Finding) -> bool:
        """Whether a weighed finding is as bad as `fail_on`, or worse."""
        return _RANK[finding.severity] <= _RANK[self.fail_on]

    def faults(self, findings: Iterable[Finding]) -> list[Finding]:
        """Of raw findings those that count and fail: what a version must not have to be chosen."""
        return [finding for finding in self.applied(findings) if self.is_fault(finding)]

    @property
    def over(self) -> tuple[AcceptedFinding, ...]:
        """Accepted findings whose last day has passed."""
        return tuple(entry for entry in self.accepted if entry.is_over(self.today))


DEFAULT_POLICY = Policy()
"""That of a project that decides nothing."""
