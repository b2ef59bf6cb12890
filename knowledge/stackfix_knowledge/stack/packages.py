"""Which packages make up a GPU stack, and what each of them is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.reader import Entry, read_facts

__all__ = ["Package", "PackageTable", "Role", "parse_packages"]


class Role(StrEnum):
    """Who decides about a package's version."""

    FRAMEWORK = "framework"
    """The user does."""
    COMPANION = "companion"
    """A framework does; there is one for each of the framework's versions."""
    LIBRARY = "library"
    """NVIDIA's own libraries: whoever needs them does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package of the GPU stack."""

    name: str
    """Normalised as in locks."""

    role: Role

    family: str
    """What it belongs to and moves with ("torch", "jax", "cuda")."""

    judged: bool
    """Whether its wheels hold GPU code or a GPU compiler. If not, there is nothing to judge."""

    cuda_major: int | None
    """The CUDA major that its name fixes; None if the name says nothing."""

    numbered_as_cuda: bool = False
    """Whether its own major version is the CUDA major that it is for."""

    provides: str | None
    """The library that it is, whatever the CUDA major ("cudnn"); None if it is none."""

    evidence: tuple[Evidence, ...]


class PackageTable:
    """Every package of the stack, by normalised name."""

    def __init__(self, packages: Iterable[Package]) -> None:
        self._packages: Mapping[str, Package] = {package.name: package for package in packages}

    @classmethod
    def load(cls) -> PackageTable:
        """The shipped table."""
        return cls(parse_packages(read_facts("packages.toml")))

    def with_own(self, names: Iterable[str]) -> PackageTable:
        """This table and packages of a project's own, which count as companions to be judged."""
        own = (
            Package(
                name=name,
                role=Role.COMPANION,
                family=name,
                judged=True,
                cuda_major=None,
                provides=None,
                evidence=(),
            )
            for name in names
        )
        return PackageTable((*self._packages.values(), *own))

    def __contains__(self, name: object) -> bool:
        return name in self._packages

    def __iter__(self) -> Iterator[Package]:
        return iter(self._packages.values())

    def __len__(self) -> int:
        return len(self._packages)

    def is_stack(self, name: str) -> bool:
        """Whether the graph knows this package as part of the stack."""
        return name in self._packages

    def is_library(self, name: str) -> bool:
        """Whether it is one of NVIDIA's libraries that holds code, such as cuDNN or NCCL."""
        package = self._packages.get(name)
        return package is not None and package.role is Role.LIBRARY and package.judged

    def get(self, name: str) -> Package | None:
        """The package of that normalised name."""
        return self._packages.get(name)

    def providing(self, library: str) -> tuple[Package, ...]:
        """The packages that are this library, one for each CUDA major ("cudnn")."""
        return tuple(p for p in self._packages.values() if p.provides == library)

    def family(self, name: str) -> tuple[Package, ...]:
        """The packages of one family."""
        return tuple(p for p in self._packages.values() if p.family == name)


def parse_packages(file: Entry) -> Iterator[Package]:
    """Read the tables of roles of a facts file. Raises FactsError."""
    file.only("sources", *Role)
    evidence = tuple(file.sources().values())
    seen: set[str] = set()
    for role in Role:
        table = file.entry(role)
        for name in table.data:
            if name in seen:
                raise table.fault(name, "each package once")
            seen.add(name)
            entry = table.entry(name)
            entry.only("family", "judged", "cuda", "numbered-as-cuda", "provides")
            yield Package(
                name=name,
                role=role,
                family=entry.text("family"),
                judged=entry.flag("judged"),
                cuda_major=entry.optional_integer("cuda"),
                numbered_as_cuda=entry.flag("numbered-as-cuda", default=False),
                provides=entry.optional_text("provides"),
                evidence=evidence,
            )
