"""Whether the targets' targets are what their own wheels ask for: SF502 and SF503 in a plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stackfix.audit.metadata import MetadataReader
from stackfix.model.environment import TargetEnvironment
from stackfix.model.finding import Finding, Severity
from stackfix.rules.locked import DeclaredEnvironment
from stackfix.rules.requires import DeclaredMetadata
from stackfix.rules.sf502_disagrees import Disagrees
from stackfix.rules.sf503_override import Override
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.packages import Role
from stackfix_lockfiles.lock import Lock, LockedPackage, LockedRequirement
from stackfix_lockfiles.markers import Environment as Truths

__all__ = ["integrity"]


def integrity(
    lock: Lock, environments: Sequence[TargetEnvironment], graph: Graph
) -> Iterator[Finding]:
    """What the requirements of locked wheels say against the lock, as far as they are known here.

    Only what concerns the stack: a plan moves nothing else.
    """
    statements = MetadataReader(lock, graph)
    overrides: dict[str, tuple[LockedRequirement, ...]] = {}
    for override in lock.manifest.overrides:
        overrides[override.name] = (*overrides.get(override.name, ()), override)
    seen: set[int] = set()
    for environment in environments:
        walked = environment.stack.environment
        if walked is None or id(walked) in seen:
            continue
        seen.add(id(walked))

        def stated(
            package: LockedPackage, platform: str = environment.platform
        ) -> DeclaredMetadata | None:
            said = statements.of(package, platform)
            if said is None:
                return None
            lines = tuple(line for line in said.lines if _known(line.name, graph))
            return replace(said, lines=lines)

        locked = DeclaredEnvironment(
            environment=walked,
            truths=Truths(walked.platform.markers(walked.python)),
            stated=stated,
            is_stack=graph.packages.is_stack,
            overrides=overrides,
            excludes=frozenset(lock.manifest.excludes),
        )
        for rule in (Disagrees(), Override()):
            yield from (_weighed(finding, graph) for finding in rule.judge(locked))


def _weighed(finding: Finding, graph: Graph) -> Finding:
    """A warning where somebody overrides one of NVIDIA's libraries: at times the only way.

    Whether that version works is for the other rules to say: SF301, SF303, SF101 and SF401. The
    meta-package is none of them: what an override strips of it is missing.
    """
    package = graph.packages.get(finding.package)
    library = package is not None and package.role is Role.LIBRARY and package.judged
    if finding.code == Override.code and library:
        return replace(finding, severity=Severity.WARNING)
    return finding


def _known(name: str, graph: Graph) -> bool:
    """Whether a plan could do anything about that package."""
    return graph.packages.is_stack(name) and bool(graph.releases(name))
