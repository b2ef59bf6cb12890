"""What binaries that were inspected mean for cards: judged by the rules that judge locks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from packaging.version import Version

from stackfix.model.finding import Finding
from stackfix.model.stack import Piece
from stackfix.model.target import Target
from stackfix.rules.interface import PieceRule
from stackfix.rules.judge import ordered
from stackfix.rules.sf101_no_code import NoCode
from stackfix.rules.sf102_jit_only import JitOnly
from stackfix.rules.sf103_partial import PartialCode
from stackfix.rules.sf105_cpu_only import CpuOnly
from stackfix.rules.sf106_ptxas import Assembler
from stackfix.rules.sf109_unmeasured import Unmeasured
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.inspect.package import Inspected
from stackfix_knowledge.stack.packages import Package, Role
from stackfix_knowledge.wheels.coverage import Coverage, LibraryCoverage, Share, Support
from stackfix_knowledge.wheels.release import WheelFact

__all__ = ["Verdict", "judge_inspected", "library_verdict", "package_verdict"]

_RULES: tuple[PieceRule, ...] = (
    NoCode(),
    JitOnly(),
    PartialCode(),
    CpuOnly(),
    Assembler(alone=True),
    Unmeasured(),
)
"""The rules that judge a wheel's code alone."""

_NO_VERSION = Version("0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a library or a package can do on one card."""

    state: Support | None
    """None: the library is not judged, since it serves some cards or one feature alone."""
    every: Share
    """All its containers."""
    judged: Share
    """Those that the state rests on: the broad ones; see `stackfix_knowledge.coverage`."""


def library_verdict(
    library: LibraryCoverage, card: ComputeCapability, toolkit: Version | None
) -> Verdict:
    """The verdict on one library; `toolkit` is the CUDA that built it."""
    return Verdict(
        state=library.support(card, toolkit=toolkit),
        every=library.share_of_all(card, toolkit=toolkit),
        judged=library.share(card, toolkit=toolkit),
    )


def package_verdict(wheel: WheelFact, card: ComputeCapability) -> Verdict:
    """The verdict on all of a wheel; its shares are the sums over the libraries."""
    coverage = wheel.coverage
    if coverage is None:
        return Verdict(state=Support.UNKNOWN, every=_sum(()), judged=_sum(()))
    verdicts = [library_verdict(one, card, coverage.toolkit) for one in coverage.libraries]
    return Verdict(
        state=Support.UNSUPPORTED if wheel.cpu_only else coverage.support(card),
        every=_sum(verdict.every for verdict in verdicts),
        judged=_sum(verdict.judged for verdict in verdicts if verdict.state is not None),
    )


def judge_inspected(
    packages: Iterable[Inspected], targets: Sequence[Target], graph: Graph
) -> tuple[Finding, ...]:
    """What keeps the packages from running on the targets, worst first."""
    found: list[Finding] = []
    for inspected in packages:
        piece = _piece(inspected, graph)
        for target in targets:
            for rule in _RULES:
                found += (_named(f, piece) for f in rule.judge(piece, target, graph))
    return ordered(found)


def _piece(inspected: Inspected, graph: Graph) -> Piece:
    known = graph.packages.get(inspected.package) if inspected.package else None
    package = known or Package(
        name=inspected.package or inspected.wheel.file,
        role=Role.COMPANION,
        family="",
        # What holds no code and is no package of the stack has nothing to be judged.
        judged=(inspected.wheel.coverage or Coverage(libraries=())).has_device_code,
        cuda_major=None,
        provides=None,
        evidence=(),
    )
    version = inspected.version or _NO_VERSION
    return Piece(package=package, version=version, release=None, wheel=inspected.wheel)


def _named(finding: Finding, piece: Piece) -> Finding:
    """The finding; without a version where there is none, as for a single library."""
    if piece.version is not _NO_VERSION:
        return finding
    return replace(finding, version="", message=finding.message.replace(piece.title, piece.name))


def _sum(shares: Iterable[Share]) -> Share:
    shares = tuple(shares)
    return Share(
        native=sum(share.native for share in shares),
        jit=sum(share.jit for share in shares),
        none=sum(share.none for share in shares),
    )
