"""Support matrices as the vendor documents them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.hardware import ComputeCapability, DriverVersion
from stackfix_knowledge.reader import Entry, Sources, read_facts

__all__ = ["MatrixRow", "VendorMatrix", "VendorTable"]


class MatrixRow(NamedTuple):
    """One row: what a build for some CUDA versions supports, and from which driver on."""

    cuda: SpecifierSet
    """The CUDA toolkits of the row, all of one major."""
    cuda_major: int
    capabilities: frozenset[ComputeCapability]
    """The capabilities that the row lists."""
    linux: DriverVersion | None
    windows: DriverVersion | None
    evidence: tuple[Evidence, ...]
    note: str | None = None


class VendorMatrix(NamedTuple):
    """The documented matrix of one release of a library, for one CUDA major."""

    library: str
    """Such as "cudnn"."""
    documents: Version
    """The release that the document is about; it may be another patch of the same minor."""
    rows: tuple[MatrixRow, ...]

    @property
    def capabilities(self) -> frozenset[ComputeCapability]:
        """Every capability that some row lists."""
        return frozenset().union(*(row.capabilities for row in self.rows))

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The documents behind it."""
        return tuple(dict.fromkeys(item for row in self.rows for item in row.evidence))

    def lists(self, capability: ComputeCapability) -> bool:
        """Whether the vendor lists the capability for this release."""
        return any(known.device == capability.device for known in self.capabilities)


class VendorTable:
    """The documented matrices of one library, by its release."""

    def __init__(self, library: str, rows: Iterable[tuple[Version, MatrixRow]]) -> None:
        self.library = library
        self._rows = tuple(rows)

    @classmethod
    def load(cls, library: str) -> VendorTable:
        """The shipped matrices of a library, from `vendor/<library>.toml`."""
        file = read_facts(f"vendor/{library}.toml")
        file.only("sources", "matrix")
        sources = file.sources()
        return cls(library, [_row(entry, sources) for entry in file.entries("matrix")])

    def __iter__(self) -> Iterator[tuple[Version, MatrixRow]]:
        return iter(self._rows)

    def matrix(self, version: Version, cuda_major: int) -> VendorMatrix | None:
        """The matrix of the release's minor version and CUDA major; None if nobody read it.

        A matrix is never carried over to another minor version. Among the documented patches of
        the minor, the nearest one at or below the release is taken, else the first above.
        """
        rows = [
            (documented, row)
            for documented, row in self._rows
            if documented.release[:2] == version.release[:2] and row.cuda_major == cuda_major
        ]
        documented = sorted({documented for documented, _ in rows})
        if not documented:
            return None
        patch = Version(".".join(map(str, version.release[:3])))
        below = [known for known in documented if known <= patch]
        chosen = below[-1] if below else documented[0]
        return VendorMatrix(
            library=self.library,
            documents=chosen,
            rows=tuple(row for known, row in rows if known == chosen),
        )


def _row(entry: Entry, sources: Sources) -> tuple[Version, MatrixRow]:
    entry.only(
        "version", "cuda", "cuda-major", "capabilities", "linux", "windows", "source", "note"
    )
    capabilities = entry.capabilities("capabilities")
    if not capabilities:
        raise entry.fault("capabilities", "at least one compute capability")
    return entry.version("version"), MatrixRow(
        cuda=entry.specifiers("cuda"),
        cuda_major=entry.integer("cuda-major"),
        capabilities=capabilities,
        linux=entry.driver("linux"),
        windows=entry.driver("windows"),
        evidence=entry.evidence(sources),
        note=entry.optional_text("note"),
    )
