"""How rules put coverage and evidence into words."""

from __future__ import annotations

from pathlib import PurePosixPath

from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.wheels.coverage import Coverage, Support
from stackfix_knowledge.wheels.release import WheelFact

__all__ = ["architectures", "code_evidence", "shares"]


def architectures(coverage: Coverage) -> str:
    """ "sm_50 … sm_90": what a package is built for, in a form that fits a line."""
    names = [str(architecture) for architecture in coverage.built_for()]
    if len(names) <= 6:
        return ", ".join(names) or "no architecture"
    return f"{names[0]}, {names[1]} … {names[-2]}, {names[-1]}"


def shares(coverage: Coverage, capability: ComputeCapability) -> str:
    """The libraries that fall short, each with its share of containers, the worst first."""
    short = []
    for library in coverage.libraries:
        if library.support(capability, toolkit=coverage.toolkit) in {
            Support.PARTIAL,
            Support.UNSUPPORTED,
        }:
            share = library.share(capability, toolkit=coverage.toolkit)
            short.append((share.covered, library.name, share))
    lines = []
    for _, name, share in sorted(short, key=lambda item: item[:2])[:3]:
        parts = [f"{share.native} native"] + ([f"{share.jit} JIT"] if share.jit else [])
        lines.append(f"{PurePosixPath(name).name} {' and '.join(parts)} of {share.total}")
    rest = len(short) - len(lines)
    return "; ".join(lines) + (f"; {rest} more libraries" if rest else "")


def code_evidence(wheel: WheelFact) -> tuple[Evidence, ...]:
    """The evidence that speaks of a wheel's code: measured first, else what documents say."""
    measured = tuple(e for e in wheel.evidence if e.kind is EvidenceKind.MEASURED)
    return measured or tuple(e for e in wheel.evidence if e.kind is not EvidenceKind.METADATA)
