"""The terms in which resolvelib is asked: keys, requirements on them, and candidates for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, TypeAlias

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.solve.cost import FREE, Cost
from stackfix_index.names import normalized
from stackfix_knowledge.wheels.release import Release

__all__ = [
    "PLAN",
    "AnyCandidate",
    "AnyRequirement",
    "Candidate",
    "Claim",
    "CudaMajor",
    "Key",
    "PackageKey",
    "Placeholder",
    "SharedFile",
    "StackRequirement",
    "TorchIndex",
]

PLAN = "this plan"
"""Origin of the requirements that the search itself makes."""


class PackageKey(NamedTuple):
    """A package, or a package with one of its extras: a tuple, for a solve compares millions.

    resolvelib is told that each version is a candidate. The candidates of an extra ask for the same
    version of the package itself, beside what the extra brings.
    """

    name: str
    extra: str = ""

    def __str__(self) -> str:
        """ "torch" or "jax[cuda12]"."""
        return f"{self.name}[{self.extra}]" if self.extra else self.name

    @staticmethod
    def of(requirement: Requirement) -> tuple[PackageKey, ...]:
        """The package that a requirement asks for, and each of the extras."""
        name = normalized(requirement.name)
        extras = sorted(requirement.extras)
        return (PackageKey(name), *(PackageKey(name, normalized(e)) for e in extras))


@dataclass(frozen=True, slots=True)
class SharedFile:
    """A path that several packages install, and that only one of an environment may.

    resolvelib is told of one candidate, as long as all claims to it are the same package's.
    """

    rivalry: ClassVar[str] = "install the same file"
    """What two owners do, after their names."""
    path: str

    def __str__(self) -> str:
        return f"file:{self.path}"


@dataclass(frozen=True, slots=True)
class TorchIndex:
    """The one index that all of PyTorch's packages come from.

    resolvelib is told of one candidate, as long as all claims to it name the same index.
    """

    rivalry: ClassVar[str] = "come from different indexes"

    def __str__(self) -> str:
        return "index:torch"


@dataclass(frozen=True, slots=True)
class CudaMajor:
    """The CUDA major of torch, and of those who take CUDA's libraries from it, on one platform.

    resolvelib is told of one candidate, as long as all claims to it name the same major.
    """

    rivalry: ClassVar[str] = "are builds for different CUDA majors"
    platform: str

    def __str__(self) -> str:
        return f"cuda:{self.platform}"


Key: TypeAlias = PackageKey | SharedFile | TorchIndex | CudaMajor


@dataclass(frozen=True, slots=True)
class StackRequirement:
    """A requirement on a package inside the solve, with who makes it."""

    key: PackageKey
    specifier: SpecifierSet
    origin: str
    """ "torch 2.8.0", "pyproject.toml line 12"."""
    unmoved: bool = False
    """Made by a package at its locked version: nothing that the plan brings about."""

    @property
    def name(self) -> str:
        """The package without its extra."""
        return self.key.name

    def __str__(self) -> str:
        return f"{self.key}{self.specifier}"

    @staticmethod
    def of(
        requirement: Requirement, origin: str, *, unmoved: bool = False
    ) -> tuple[StackRequirement, ...]:
        """What a requirement asks: of the package, and of each of its extras."""
        return tuple(
            StackRequirement(key, requirement.specifier, origin, unmoved)
            for key in PackageKey.of(requirement)
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """A package's claim to something that has one owner; claims of different owners exclude."""

    key: SharedFile | TorchIndex | CudaMajor
    owner: str
    """A package, an index, or a CUDA major."""
    origin: str
    """The package that makes the claim, "torch 2.8.0"."""


AnyRequirement: TypeAlias = StackRequirement | Claim


@dataclass(frozen=True, slots=True)
class Candidate:
    """A version of a package, chosen by its name or for one of its extras."""

    key: PackageKey
    version: Version
    release: Release | None = field(compare=False)
    """What is known of the version; None: nothing."""
    cost: Cost = field(default=FREE, compare=False)

    @property
    def name(self) -> str:
        """The package without its extra."""
        return self.key.name

    @property
    def title(self) -> str:
        """ "torch 2.8.0", as messages name it."""
        return f"{self.key.name} {self.version}"


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The one candidate where no version is chosen: for claims, and outside the stack.

    uv picks the version of a package outside the stack later.
    """

    key: Key


AnyCandidate: TypeAlias = Candidate | Placeholder
