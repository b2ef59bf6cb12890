"""Packages that are compiled where they are installed, and so against a framework that now moves.

uv keeps what it built from a source distribution and knows nothing of what that was built against:
after the move it would install the old build again, which ends in an undefined symbol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stackfix.model.stack import Piece, Stack
from stackfix.plan.lock_state import LockState
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.packages import Role

__all__ = ["Rebuild", "rebuilds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuild:
    """A package without a wheel, whose framework moves."""

    package: str
    version: str
    against: str
    """The framework as it will be, "torch 2.8.0"."""


def rebuilds(before: LockState, after: LockState, graph: Graph) -> tuple[Rebuild, ...]:
    """What stays at its version, is built from source on some target, and has to be built anew.

    A package that itself moves is built anew by uv.
    """
    found = (
        Rebuild(package=piece.name, version=str(piece.version), against=framework.title)
        for old, new in zip(before.stacks, after.stacks, strict=True)
        for piece, framework in _concerned(old, new, graph)
    )
    return tuple(dict.fromkeys(found))


def _concerned(old: Stack, new: Stack, graph: Graph) -> Iterator[tuple[Piece, Piece]]:
    for piece in new:
        kept = old.get(piece.name)
        if kept is None or kept.version != piece.version or not _is_compiled(piece):
            continue
        for package in graph.packages.family(piece.package.family):
            was, now = old.get(package.name), new.get(package.name)
            if package.role is not Role.FRAMEWORK or package.name == piece.name:
                continue
            if was is not None and now is not None and was.version != now.version:
                yield piece, now


def _is_compiled(piece: Piece) -> bool:
    """Whether the lock has only sources of it for this environment, and its code is for the GPU."""
    sources = piece.locked is not None and piece.locked.sdist is not None
    return piece.package.judged and sources and piece.file is None
