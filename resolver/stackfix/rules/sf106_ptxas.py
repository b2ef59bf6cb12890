"""SF106: the PTX assembler is too old for the card, or newer than the driver takes.

What: triton and jax compile kernels at run time with a ptxas out of a wheel. Either that ptxas has
never heard of the card, or it is of a newer CUDA than the driver.

Why: a ptxas that does not know the card fails with "Value 'sm_121a' is not defined for option
'gpu-name'", in the middle of the first compiled step. XLA then falls back to the driver's own
compiler, which is slower and less tested; so that is a warning. It is one too where torch brings a
ptxas that knows the card: torch.compile hands that to triton, other users of triton do not. Where
ptxas is newer than the driver, XLA turns parallel compilation off and says so at each start.

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

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.hardware import ComputeCapability
from stackfix_knowledge.wheels.release import Ptxas

__all__ = ["Assembler", "AssemblerForDriver", "AssemblerOfTriton"]

CODE = "SF106"
_XLA = "jax"


def targets_card(assemblers: Sequence[Ptxas], card: ComputeCapability, graph: Graph) -> bool:
    """Whether one of them can write code for exactly this card."""
    return any(_knows(one, card, graph) for one in assemblers)


def _knows(assembler: Ptxas, card: ComputeCapability, graph: Graph) -> bool:
    """By the targets that it names; where nobody read those, by its toolkit."""
    if assembler.targets:
        names = {card.sm, card.device.sm}
        return any(target.rstrip("af") in names for target in assembler.targets)
    first, dropped = graph.cuda.first_cuda(card), graph.cuda.dropped(card)
    toolkit = _version(assembler.cuda)
    return (first is not None and toolkit >= first.value) and (
        dropped is None or toolkit.major < dropped.value
    )


class Assembler:
    """Too old for the card, where the driver's compiler steps in."""

    code = CODE
    title = "ptxas too old for the card"

    def __init__(self, *, alone: bool = False) -> None:
        """`alone`: no stack is known, so triton is judged here, as if nothing could help it."""
        self._alone = alone

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]:
        triton = piece.package.compiles_alone
        if (self._alone or not triton) and _is_too_old(piece, target, graph):
            severity = Severity.ERROR if triton else Severity.WARNING
            yield _too_old(piece, target, graph, severity)


class AssemblerOfTriton:
    """Too old for the card, where nothing else compiles."""

    code = CODE
    title = Assembler.title

    def judge(self, stack: Stack, target: Target, graph: Graph) -> Iterator[Finding]:
        for piece in stack:
            if not piece.package.compiles_alone or not _is_too_old(piece, target, graph):
                continue
            torch = stack.get("torch")
            other = torch.wheel.ptxas if torch and torch.wheel else ()
            if torch is None or not targets_card(other, target.capability, graph):
                yield _too_old(piece, target, graph, Severity.ERROR)
                continue
            but = (
                f"; torch.compile uses that of {torch.title}, "
                "kernels written for triton itself do not"
            )
            yield _too_old(piece, target, graph, Severity.WARNING, but)


def _is_too_old(piece: Piece, target: Target, graph: Graph) -> bool:
    assemblers = piece.wheel.ptxas if piece.wheel else ()
    known = bool(assemblers) and any(one.targets for one in assemblers)
    return known and not targets_card(assemblers, target.capability, graph)


def _too_old(
    piece: Piece, target: Target, graph: Graph, severity: Severity, but: str = ""
) -> Finding:
    assert piece.wheel is not None
    newest = max((one.cuda for one in piece.wheel.ptxas), key=_version)
    # A card that the toolkit has dropped is as far out of reach as one that it does not know.
    dropped = graph.cuda.dropped(target.capability)
    old = dropped is not None and _version(newest).major >= dropped.value
    triton = piece.package.compiles_alone
    return Finding(
        code=CODE,
        severity=severity,
        package=piece.name,
        version=str(piece.version),
        target=target,
        message=f"{piece.title} compiles with the ptxas of CUDA {newest}, which "
        f"{'no longer knows' if old else 'does not know'} {target.capability.sm}{but}",
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
            if piece.package.compiles_alone or not piece.wheel or not piece.wheel.ptxas:
                continue
            if piece.package.family == "torch":
                continue
            newest = max((one.cuda for one in piece.wheel.ptxas), key=_version)
            needed = graph.cuda.toolkit_driver(_version(newest), target.platform)
            if needed is None or target.has_libcuda(needed.value):
                continue
            yield Finding(
                code=CODE,
                severity=Severity.WARNING,
                package=piece.name,
                version=str(piece.version),
                target=target,
                message=f"{piece.title} brings the ptxas of CUDA {newest}, newer than driver "
                f"{target.libcuda}: XLA compiles one kernel at a time",
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
