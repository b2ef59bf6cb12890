"""The next step: a further move that would clear warnings, offered, or refused with the reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from packaging.version import Version

from stackfix.plan.declared import world
from stackfix.plan.plan import NextStep
from stackfix.plan.request import Request
from stackfix.plan.sites import Ground
from stackfix.rules.finding import Finding, Severity
from stackfix.solve.conflict import Conflict
from stackfix.solve.domain import Domain
from stackfix.solve.resolve import complete
from stackfix.solve.world import Demand, World
from stackfix_knowledge.packages import Package

__all__ = ["next_step", "worth_a_step"]

WORTH = frozenset({"SF102"})
"""Warnings that a newer framework clears: native code instead of JIT."""


def worth_a_step(findings: Iterable[Finding]) -> bool:
    """Whether a finding warns of what a newer framework would clear."""
    return any(f.code in WORTH and f.severity is Severity.WARNING for f in findings)


def next_step(
    request: Request, ground: Ground, findings: Sequence[Finding], demands: Sequence[Demand]
) -> NextStep | None:
    """The nearest framework version without JIT on any target; None where nothing warns of it.

    `findings` and `ground` are those after the plan's own moves.
    """
    scene = world(request, ground, demands)
    for name in _warned(scene, findings):
        step = _for_framework(scene, name)
        if step is not None:
            return step
    return None


def _warned(scene: World, findings: Sequence[Finding]) -> list[str]:
    """Frameworks whose family has a warning worth a step."""
    families = {
        package.family
        for f in findings
        if f.code in WORTH
        and f.severity is Severity.WARNING
        and (package := scene.graph.packages.get(f.package)) is not None
    }
    return sorted(
        name
        for name in scene.locked
        if (package := scene.graph.packages.get(name)) is not None
        and package.role == "framework"
        and package.family in families
    )


def _for_framework(scene: World, name: str) -> NextStep | None:
    domain = Domain(scene)
    locked = scene.locked[name]
    family = {package.name for package in _family(scene, name)}
    first: Conflict | None = None
    refused: Version | None = None
    for choice in domain.choices(name):
        version = choice.version
        if version <= locked or version.local != locked.local:
            continue
        result = complete(scene, domain, {name: version})
        if isinstance(result, Conflict):
            if first is None and _clears(scene, domain, name, version):
                first, refused = result, version
            continue
        warned = any(
            finding.code in WORTH
            for member, moved in result.versions.items()
            if member in family
            for finding in domain.findings(member, moved)
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


def _family(scene: World, name: str) -> tuple[Package, ...]:
    package = scene.graph.packages.get(name)
    return scene.graph.packages.family(package.family) if package else ()


def _clears(scene: World, domain: Domain, name: str, version: Version) -> bool:
    """Whether the members that share the framework's version run natively at this one."""
    judged = [
        p.name
        for p in _family(scene, name)
        if p.judged and p.name in scene.locked and scene.locked[p.name] == scene.locked[name]
    ]
    return bool(judged) and not any(
        finding.code in WORTH for member in judged for finding in domain.findings(member, version)
    )
