"""SF503: an override strips extras, or hides a requirement that breaks.

What: `override-dependencies` replaces every requirement of a package, with its extras and its
limits. Either a wheel asks for extras that the override does not name, so that the packages behind
them vanish from the lock; or the overridden version is one that a wheel of the environment does
not admit.

An override of one of NVIDIA's libraries (cuDNN, NCCL, …) is a warning: at times it is the only way
to code for a card, and whether that version works is for other rules to say (SF101, SF301, SF303,
SF401). It is outside what the framework was tested with all the same.

Why: the resolver is content, because it was told to be. From torch 2.11 on the CUDA libraries come
through the extras of `cuda-toolkit`: an override of it drops ten of them. And `ml-dtypes==0.4.1`
under a newer jax locks, installs, and fails at import.

Evidence: metadata (the Requires-Dist of the wheels), read without the overrides.

Fix: drop the override, name the extras in it, or use `constraint-dependencies`, which limits a
version and replaces nothing.

Ignore: `[tool.stackfix] ignore = [{ code = "SF503", package = "…", reason = "…" }]`, where you know
that the limit is too strict.
"""

from __future__ import annotations

from collections.abc import Iterator

from stackfix.model.finding import Finding, Severity
from stackfix.rules.locked import DeclaredEnvironment
from stackfix.rules.requires import DeclaredMetadata, admits
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_lockfiles.lock import LockedPackage
from stackfix_lockfiles.requirement import RequirementLine

__all__ = ["Override"]


class Override:
    code = "SF503"
    title = "an override strips extras, or hides a requirement that breaks"

    def judge(self, locked: DeclaredEnvironment) -> Iterator[Finding]:
        """What the overrides of a lock hide in one environment."""
        if not locked.overrides:
            return
        for package in locked.environment.packages.values():
            stated = locked.stated(package)
            if stated is None or package.is_member:  # a member's own word is the override
                continue
            truths = locked.truths_of(package)
            for line in stated.lines:
                if line.name in locked.overrides and line.holds(truths):
                    yield from self._line(package, line, stated, locked)

    def _line(
        self,
        package: LockedPackage,
        line: RequirementLine,
        stated: DeclaredMetadata,
        locked: DeclaredEnvironment,
    ) -> Iterator[Finding]:
        by = f"{package.name} {package.version or ''}".strip()
        other = locked.environment.packages.get(line.name)
        severity = (
            Severity.ERROR
            if locked.is_stack(package.name) or locked.is_stack(line.name)
            else Severity.WARNING
        )
        missing = line.extras - locked.environment.extras_on.get(line.name, frozenset())
        if missing and other is not None:
            yield self._finding(
                other,
                severity,
                f"the override of {line.name} strips the extras that {by} asks for: "
                f"{', '.join(sorted(missing))}",
                stated.evidence,
                f"name them in the override ({line.name}[…]), or use a constraint instead",
            )
        if other and other.version and admits(line.specifier, other.version) is False:
            yield self._finding(
                other,
                Severity.WARNING if locked.is_library(line.name) else severity,
                f"{other.name} {other.version} stands by an override, which hides that "
                f"{by} requires {line}",
                stated.evidence,
                "drop the override, or choose a version that all admit",
            )

    def _finding(
        self,
        other: LockedPackage,
        severity: Severity,
        message: str,
        evidence: tuple[Evidence, ...],
        fix: str,
    ) -> Finding:
        metadata = tuple(e for e in evidence if e.kind is EvidenceKind.METADATA)
        return Finding(
            code=self.code,
            severity=severity,
            package=other.name,
            version=other.version or "",
            message=message,
            evidence=metadata or evidence,
            fix=fix,
        )
