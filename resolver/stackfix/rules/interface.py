"""What a rule is: one question, asked of a piece, of a stack, or of the target alone.

A rule's module docstring is what `stackfix explain CODE` prints: what it finds, why that matters,
which kind of evidence it rests on, how to fix it, how to ignore it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from stackfix.model.finding import Finding
from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix_knowledge.graph import Graph

__all__ = ["IntegrityRule", "LockRule", "PieceRule", "StackRule", "TargetRule"]


class PieceRule(Protocol):
    """Judges one package on one target; the solver prunes candidates with these."""

    code: str
    title: str

    def judge(self, piece: Piece, target: Target, graph: Graph) -> Iterator[Finding]: ...


class StackRule(Protocol):
    """Judges packages against each other in one environment."""

    code: str
    title: str

    def judge(self, stack: Stack, target: Target, graph: Graph) -> Iterator[Finding]: ...


class TargetRule(Protocol):
    """Judges the target alone: no move of pins clears what it finds."""

    code: str
    title: str

    def judge(self, target: Target, graph: Graph) -> Iterator[Finding]: ...


class LockRule(Protocol):
    """Judges what the lock holds beyond the environments that targets install."""

    code: str
    title: str

    def judge(
        self, locked: dict[str, tuple[str, ...]], stacks: tuple[Stack, ...], graph: Graph
    ) -> Iterator[Finding]: ...


class IntegrityRule(Protocol):
    """Judges a lock as a file: each has its own question, which `stackfix.gate` asks."""

    code: str
    title: str
