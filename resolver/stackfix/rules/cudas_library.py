"""Packages that hold a library for each CUDA: the one for the CUDA of this environment.

SF303 where it is missing, SF101 and SF103 where it has no code for the card, though another of the
package's libraries may. The rules of those codes judge a package by the best of its alternatives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packaging.version import Version

from stackfix.model.finding import Finding, Severity
from stackfix.model.stack import Piece, Stack
from stackfix.model.target import Target
from stackfix.rules.sf101_no_code import NoCode
from stackfix.rules.sf103_partial import PartialCode
from stackfix.rules.sf303_coupling import UnstatedCoupling
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.loading import Alternatives
from stackfix_knowledge.wheels.coverage import LibraryCoverage, Support

_CODES = {Support.UNSUPPORTED: NoCode.code, Support.PARTIAL: PartialCode.code}


class LibraryOfCuda:
    """The library that gets loaded: whether it is there, and has code for the card."""

    code = UnstatedCoupling.code
    title = UnstatedCoupling.title

    def judge(self, stack: Stack, target: Target, graph: Graph) -> Iterator[Finding]:
        for piece in stack:
            known = graph.alternatives(piece.name, piece.version)
            other = stack.get(known.beside) if known else None
            if known is None or other is None or other.wheel is None or other.wheel.cuda is None:
                continue
            coverage = piece.wheel.coverage if piece.wheel else None
            held = known.held(coverage) if coverage else {}
            if not held:
                continue
            loaded = known.loaded(held, other.wheel.cuda)
            if loaded is None:
                yield self._missing(piece, other, known, held, target)
            elif piece.support(target.capability) in _CODES:
                continue  # told of the package itself
            elif code := _CODES.get(held[loaded].support(target.capability) or Support.SUPPORTED):
                yield self._no_code(piece, other, loaded, held[loaded], code, target)

    def _missing(
        self,
        piece: Piece,
        other: Piece,
        known: Alternatives,
        held: Mapping[Version, LibraryCoverage],
        target: Target,
    ) -> Finding:
        assert other.wheel is not None
        assert other.wheel.cuda is not None
        cuda = other.wheel.cuda
        near = any(one.major == cuda.major for one in held)
        return Finding(
            code=self.code,
            severity=Severity.ERROR,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"{piece.title} has no library for CUDA {cuda.major}.{cuda.minor}, that of "
            f"{other.title}, but for {', '.join(map(str, sorted(held)))}: {known.effect}",
            evidence=known.evidence,
            fix=known.advice if near else None,
        )

    @staticmethod
    def _no_code(
        piece: Piece,
        other: Piece,
        cuda: Version,
        library: LibraryCoverage,
        code: str,
        target: Target,
    ) -> Finding:
        name = library.name.rpartition("/")[2]
        return Finding(
            code=code,
            severity=Severity.ERROR,
            package=piece.name,
            version=str(piece.version),
            target=target,
            message=f"{piece.title} loads {name} beside {other.title}, which has no code for "
            f"compute capability {target.capability}",
            evidence=piece.wheel.evidence if piece.wheel else (),
        )
