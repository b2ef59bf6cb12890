"""The next step: a further move that would clear warnings, offered, or refused with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from packaging.version import Version

from stackfix.model.finding import Finding, Severity
from stackfix.plan.lock_state import LockState
from stackfix.plan.plan import NextStep
from stackfix.plan.problems.project import project_problem
from stackfix.plan.request import Request
from stackfix.rules.sf102_jit_only import JitOnly
from stackfix.solve.candidates import Candidates
from stackfix.solve.explain import Conflict
from stackfix.solve.problem import Problem
from stackfix.solve.resolve import complete
from stackfix.solve.terms import StackRequirement
from stackfix_knowledge.stack.packages import Package

__all__ = ["next_step", "worth_a_step"]

WORTH = frozenset({JitOnly.code})
"""Warnings that a newer framework clears: native code instead of JIT."""


def worth_a_step(findings: Iterable[Finding]) -> bool:
    """Whether a finding warns of what a newer framework would clear."""
    return any(f.code in WORTH and f.severity is Severity.WARNING for f in findings)


def next_step(
    request: Request,
    lock_state: LockState,
    findings: Sequence[Finding],
    requirements: Sequence[StackRequirement],
) -> NextStep | None:
    """The nearest framework version without JIT on any target; None where nothing warns of it.

    `findings` and `lock_state` are those after the plan's own moves.
    """
    problem = project_problem(request, lock_state, requirements)
    for name in _warned(problem, findings):
        step = _for_framework(problem, name)
        if step is not None:
            return step
    return None


def _warned(problem: Problem, findings: Sequence[Finding]) -> list[str]:
    """Frameworks whose family has a warning worth a step."""
    families = {
        package.family
        for f in findings
        if f.code in WORTH
        and f.severity is Severity.WARNING
        and (package := problem.graph.packages.get(f.package)) is not None
    }
    return sorted(
        name
        for name in problem.locked
        if (package := problem.graph.packages.get(name)) is not None
        and package.role == "framework"
        and package.family in families
    )


def _for_framework(problem: Problem, name: str) -> NextStep | None:
    candidates = Candidates(problem)
    locked = problem.locked[name]
    family = {package.name for package in _family(problem, name)}
    first: Conflict | None = None
    refused: Version | None = None
    for candidate in candidates.of(name):
        version = candidate.version
        if version <= locked or version.local != locked.local:
            continue
        result = complete(candidates, {name: version})
        if isinstance(result, Conflict):
            if first is None and _clears(candidates, name, version):
                first, refused = result, version
            continue
        warned = any(
            finding.code in WORTH
            for member, moved in result.versions.items()
            if member in family
            for finding in candidates.findings.of(member, moved)
        )
        if not warned:
            return NextStep(
                offer=f"{name} {locked} → {version}",
                possible=True,
                reason=f"native code for every target, in place of JIT: "
                f"stackfix plan --require '{name}=={version}'",
            )
    if first is None:
        return None
    return NextStep(offer=f"{name} {locked} → {refused}", possible=False, reason=first.reason)


def _family(problem: Problem, name: str) -> tuple[Package, ...]:
    package = problem.graph.packages.get(name)
    return problem.graph.packages.family(package.family) if package else ()


def _clears(candidates: Candidates, name: str, version: Version) -> bool:
    """Whether the members that share the framework's version run natively at this one."""
    problem = candidates.problem
    judged = [
        p.name
        for p in _family(problem, name)
        if p.judged and p.name in problem.locked and problem.locked[p.name] == problem.locked[name]
    ]
    return bool(judged) and not any(
        finding.code in WORTH
        for member in judged
        for finding in candidates.findings.of(member, version)
    )
