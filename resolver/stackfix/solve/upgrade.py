"""What `uv lock --upgrade` would do to the stack later, and whether a fault would come back.

uv takes the newest version that metadata admits; it knows no card, no unstated coupling and no
contested file. The same resolver, asked like uv, tells which package would relapse, and below
which version it has to be held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.model.finding import Finding
from stackfix.rules.judge import judge_stack
from stackfix.rules.sf303_coupling import UnstatedCoupling
from stackfix.solve.candidates import Candidates
from stackfix.solve.explain import Conflict
from stackfix.solve.preference import UvPreference, VersionFindings
from stackfix.solve.problem import Problem
from stackfix.solve.resolve import Solution, combine
from stackfix_knowledge.stack.packages import Role

__all__ = ["Relapse", "relapse", "sentence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relapse:
    """A package that an upgrade would move to a version with an error."""

    package: str
    below: Version
    """The lowest version that has to be kept out."""
    message: str
    """One short sentence, to stand as a comment beside the bound."""


def relapse(
    problem: Problem,
    findings: VersionFindings,
    versions: Mapping[str, Version],
    specifiers: Mapping[str, SpecifierSet],
) -> Relapse | None:
    """The first fault that an upgrade would bring back, when the project asks `specifiers`.

    `versions` is the solution as it stands; None: an upgrade stays sound.
    """
    limited = replace(problem, required=dict(specifiers))
    outcome = combine(Candidates(limited, UvPreference(limited, versions)), {})
    if isinstance(outcome, Conflict):
        return None
    faults = _faults(problem, outcome)
    if not faults:
        return None
    for fault in sorted(faults, key=lambda fault: _role(problem, fault.package)):
        moved = outcome.versions.get(fault.package)
        chosen = versions.get(fault.package)
        if moved is not None and chosen is not None and moved > chosen:
            below = _first_bad(problem, findings, fault.package, versions, moved)
            return Relapse(package=fault.package, below=below, message=sentence(fault))
    return _blamed(problem, versions, outcome.versions, faults[0])


def _role(problem: Problem, name: str) -> int:
    """Frameworks first: a bound on one holds its companions too."""
    package = problem.graph.packages.get(name)
    return list(Role).index(package.role) if package else len(Role)


def _faults(problem: Problem, outcome: Solution) -> list[Finding]:
    """Faults, and couplings that nobody wrote down: a bound keeps those out as well."""
    found: list[Finding] = []
    policy = problem.policy
    for environment, stack in zip(problem.environments, outcome.stacks, strict=True):
        found += (
            finding
            for finding in policy.applied(judge_stack(stack, environment.target, problem.graph))
            if policy.is_fault(finding) or finding.code == UnstatedCoupling.code
        )
    return found


def _first_bad(
    problem: Problem,
    findings: VersionFindings,
    name: str,
    versions: Mapping[str, Version],
    moved: Version,
) -> Version:
    """The lowest release above the chosen one that fails alone or beside the solution."""
    chosen = versions[name]
    for release in problem.graph.releases(name):
        version = release.version
        if not chosen < version <= moved or version.is_prerelease or version.local:
            continue
        if problem.policy.faults(findings.of(name, version)):
            return version
        for coupling in problem.graph.couplings(name):
            partner = versions.get(coupling.needs)
            if partner is None or not coupling.concerns(version):
                continue
            if not coupling.met(version, partner):
                return version
    return Version(moved.public)


def _blamed(
    problem: Problem,
    versions: Mapping[str, Version],
    outcome: Mapping[str, Version],
    fault: Finding,
) -> Relapse | None:
    """Where the faulty package itself did not rise: the framework whose rise brought the fault."""
    for role in (Role.FRAMEWORK, Role.COMPANION):
        for name, version in versions.items():
            package = problem.graph.packages.get(name)
            moved = outcome.get(name)
            if package is None or package.role != role or moved is None or moved <= version:
                continue
            later = [
                r.version
                for r in problem.graph.releases(name)
                if r.version > version and r.version.release[:2] != version.release[:2]
            ]
            return Relapse(
                package=name,
                below=Version(min(later, default=moved).public),
                message=sentence(fault),
            )
    return None


def sentence(fault: Finding) -> str:
    """A finding's message without the figures that follow the sentence's colon."""
    sentence, _, _ = fault.message.partition(": ")
    return sentence if " " in sentence.removeprefix(f"{fault.package} ") else fault.message
