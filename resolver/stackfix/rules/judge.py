"""Judging: every rule asked of every stack on every target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix.rules.catalogue import LOCK_RULES, PIECE_RULES, STACK_RULES, TARGET_RULES
from stackfix.rules.sf201_driver_for_cuda import DriverForCuda
from stackfix_knowledge.graph import Graph

__all__ = ["errors", "judge", "judge_lock", "judge_piece", "judge_stack", "ordered"]

_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def judge_piece(piece: Piece, target: Target, graph: Graph) -> list[Finding]:
    """What the piece rules find; the solver asks this of candidates too."""
    return [f for rule in PIECE_RULES for f in rule.judge(piece, target, graph)]


def judge_stack(
    stack: Stack,
    target: Target,
    graph: Graph,
    *,
    judge_one: Callable[[Piece, Target, Graph], Iterable[Finding]] = judge_piece,
) -> list[Finding]:
    """What is wrong with one stack on one target, the target itself included.

    `judge_one` stands in for `judge_piece`, for callers that ask of many stacks alike.
    """
    if not stack.pieces:
        return []
    found = [f for rule in TARGET_RULES for f in rule.judge(target, graph)]
    for piece in stack:
        found += judge_one(piece, target, graph)
    for rule in STACK_RULES:
        found += rule.judge(stack, target, graph)
    return DriverForCuda().leading(found, stack)


def judge_lock(
    locked: dict[str, tuple[str, ...]], stacks: tuple[Stack, ...], graph: Graph
) -> list[Finding]:
    """What the lock holds beyond the environments of the targets."""
    return [f for rule in LOCK_RULES for f in rule.judge(locked, stacks, graph)]


def judge(
    stacks: Sequence[tuple[Target, Stack]],
    locked: Mapping[str, tuple[str, ...]],
    graph: Graph,
) -> tuple[Finding, ...]:
    """All findings on all targets, worst first, each once."""
    found: list[Finding] = []
    for target, stack in stacks:
        found += judge_stack(stack, target, graph)
    found += judge_lock(dict(locked), tuple(stack for _, stack in stacks), graph)
    return ordered(found)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first, then by code and package; the same finding of two environments once."""
    unique = {(f.key, f.message): f for f in findings}
    return tuple(
        sorted(unique.values(), key=lambda f: (_RANK[f.severity], f.code, f.package, f.version))
    )


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that a plan has to clear."""
    return [f for f in findings if f.severity is Severity.ERROR]
