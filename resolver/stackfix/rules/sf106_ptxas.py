"""SF106: the PTX assembler is too old for the card, or newer than the driver takes.

What: triton and jax compile kernels at run time with a ptxas out of a wheel. Either that ptxas has
never heard of the card, or it is of a newer CUDA than the driver.

Why: a ptxas that does not know the card fails with "Value 'sm_121a' is not defined for option
'gpu-name'", in the middle of the first compiled step. XLA then falls back to the driver's own
compiler, which is slower and less tested; so that is a warning. Where ptxas is newer than the
driver, XLA turns parallel compilation off and says so at each start.

Evidence: measured (the targets that the program in the wheel names), documented (the driver that
belongs to each toolkit).

Fix: a release with a newer ptxas (`stackfix plan`), `TRITON_PTXAS_PATH` with one of a newer
toolkit, or a newer driver.

Ignore: `[tool.stackfix] ignore = [{ code = "SF106", package = "…", reason = "…" }]`, where nothing
is compiled at run time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.version import InvalidVersion, Version

from stackfix.rules.finding import Finding, Severity
from stackfix.stack import Piece, Stack
from stackfix.targets.target import Target
from stackfix_knowledge.capability import ComputeCapability
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.release import Ptxas

__all__ = ["Assembler", "AssemblerForDriver"]

CODE = "SF106"
_COMPILES_ALWAYS = frozenset({"triton", "pytorch-triton"})
"""Those that have no other way to compile than their own ptxas."""
_XLA = "jax"


def targets_card(assemblers: Sequence[Ptxas], card: ComputeCapability) -> bool:
    """Whether one of them can write code for exactly this card."""
    names = {card.sm, card.device.sm}
    return any(target.rstrip("af") in names for one in assemblers for target in one.targets)


class Assembler:
    """Too old for the card."""

    code = CODE
    title = "ptxas too old for the card"

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        assemblers = piece.wheel.ptxas if piece.wheel else ()
        if not piece.wheel or not any(one.targets for one in assemblers):
            return
        if targets_card(assemblers, target.capability):
            return
        newest = max((one.cuda for one in assemblers), key=_version)
        # A card that the toolkit has dropped is as far out of reach as one that it does not know.
        dropped = graph.cuda.dropped(target.capability)
        old = dropped is not None and _version(newest).major >= dropped.value
        triton = piece.name in _COMPILES_ALWAYS
        yield Finding(
            code=CODE,
            severity=Severity.ERROR if triton else Severity.WARNING,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"{piece.title} compiles with the ptxas of CUDA {newest}, which "
            f"{'no longer knows' if old else 'does not know'} {target.capability.sm}",
            evidence=piece.wheel.evidence,
            fix=None if old else "set TRITON_PTXAS_PATH to a newer ptxas" if triton else None,
        )


class AssemblerForDriver:
    """Newer than the driver, where XLA compiles."""

    code = CODE
    title = "ptxas newer than the driver takes"

    def judge(self, stack: Stack, target: Target, graph: Graph) -> Iterator[Finding]:
        if target.driver is None or stack.get(_XLA) is None:
            return
        for piece in stack:
            if piece.name in _COMPILES_ALWAYS or not piece.wheel or not piece.wheel.ptxas:
                continue
            if piece.package.family == "torch":
                continue
            newest = max((one.cuda for one in piece.wheel.ptxas), key=_version)
            needed = graph.cuda.toolkit_driver(_version(newest), target.platform)
            if needed is None or target.driver >= needed.value:
                continue
            yield Finding(
                code=CODE,
                severity=Severity.WARNING,
                package=piece.name,
                version=str(piece.version),
                target=target,
                message=f"{piece.title} brings the ptxas of CUDA {newest}, newer than driver "
                f"{target.driver}: XLA compiles one kernel at a time",
                evidence=(*piece.wheel.evidence, *needed.evidence),
                fix=f"driver {needed.value} or newer"
                if graph.cuda.advised_driver(target.capability, needed.value)
                else None,
            )


def _version(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")
