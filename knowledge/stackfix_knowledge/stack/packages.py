"""Which packages make up a GPU stack, and what each of them is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from stackfix_knowledge.evidence import Evidence
from stackfix_knowledge.reader import Entry, read_facts

__all__ = [
    "Lack",
    "Numbering",
    "Package",
    "PackageTable",
    "Role",
    "package_table",
    "parse_packages",
]


class Role(StrEnum):
    """Who decides about a package's version."""

    FRAMEWORK = "framework"
    """The user does."""
    COMPANION = "companion"
    """A framework does; there is one for each of the framework's versions."""
    LIBRARY = "library"
    """NVIDIA's own libraries: whoever needs them does."""


class Numbering(StrEnum):
    """What a package's own version tells of CUDA."""

    CUDA_MAJOR = "cuda-major"
    """Its major is the CUDA major that it is for."""
    TOOLKIT = "toolkit"
    """It begins with the version of the CUDA toolkit that it is of."""


class Lack(StrEnum):
    """What is missing in a framework's wheel that is for CPUs alone."""

    LIBRARIES = "libraries"
    """It requires none of NVIDIA's libraries."""
    CODE = "code"
    """It holds no GPU code."""


class Package(NamedTuple):
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

    provides: str | None
    """The library that it is, whatever the CUDA major ("cudnn"); None if it is none."""

    evidence: tuple[Evidence, ...]

    numbered_as: Numbering | None = None
    """What its own version tells of CUDA; None: nothing."""

    cpu_only_without: Lack | None = None
    """What tells a wheel for CPUs alone; None: there are none, or they have another name."""

    built_with: tuple[str, ...] = ()
    """Libraries whose exact version, where it requires one, is what it was built with."""

    compiles_alone: bool = False
    """Whether it has no other compiler for kernels than its own ptxas."""

    on_pytorch_indexes: bool = False
    """Whether PyTorch's own indexes have builds of it."""

    plugin: bool = False
    """Whether its framework loads it, so that to import it alone means nothing."""

    logged_as: str | None = None
    """What lines of a log call it, where that is not its name or the library that it is."""


class PackageTable:
    """Every package of the stack, by normalised name."""

    def __init__(
        self,
        packages: Iterable[Package],
        *,
        overridable: tuple[str, ...] = (),
        loaded_once: tuple[str, ...] = (),
    ) -> None:
        self._packages: Mapping[str, Package] = {package.name: package for package in packages}
        self.on_pytorch_indexes = tuple(
            name for name, package in self._packages.items() if package.on_pytorch_indexes
        )
        """The packages that PyTorch's own indexes have builds of, torch first."""
        self.overridable = overridable
        """Libraries that a framework can be given another version of than it requires, in the
        order in which their versions are given up."""
        self.loaded_once = loaded_once
        """Libraries that a process loads once, so that an old copy left somewhere matters."""

    @classmethod
    def load(cls) -> PackageTable:
        """The shipped table."""
        return parse_packages(read_facts("packages.toml"))

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
        return PackageTable(
            (*self._packages.values(), *own),
            overridable=self.overridable,
            loaded_once=self.loaded_once,
        )

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

    def logged_as(self, component: str) -> tuple[str, ...]:
        """The names of the packages that lines of a log call so ("cudnn", "jax")."""
        return tuple(
            p.name
            for p in self._packages.values()
            if component in (p.logged_as or p.provides or p.name, p.name)
        )

    def family(self, name: str) -> tuple[Package, ...]:
        """The packages of one family."""
        return tuple(p for p in self._packages.values() if p.family == name)


@cache
def package_table() -> PackageTable:
    """The shipped table, read once."""
    return PackageTable.load()


def parse_packages(file: Entry) -> PackageTable:
    """Read a file of packages. Raises FactsError."""
    file.only("sources", "overridable", "loaded-once", *Role)
    table = PackageTable(
        _packages(file),
        overridable=file.texts("overridable"),
        loaded_once=file.texts("loaded-once"),
    )
    for key in ("overridable", "loaded-once"):
        for library in file.texts(key):
            if not table.providing(library):
                raise file.fault(key, f"libraries that a package provides, not {library}")
    return table


def _packages(file: Entry) -> Iterator[Package]:
    evidence = tuple(file.sources().values())
    seen: set[str] = set()
    for role in Role:
        table = file.entry(role)
        for name in table.data:
            if name in seen:
                raise table.fault(name, "each package once")
            seen.add(name)
            yield _package(name, role, table.entry(name), evidence)


def _package(name: str, role: Role, entry: Entry, evidence: tuple[Evidence, ...]) -> Package:
    entry.only(
        "family", "judged", "cuda", "numbered-as", "provides", "cpu-only-without", "built-with",
        "compiles-alone", "on-pytorch-indexes", "plugin", "logged-as",
    )  # fmt: skip
    return Package(
        name=name,
        role=role,
        family=entry.text("family"),
        judged=entry.flag("judged"),
        cuda_major=entry.optional_integer("cuda"),
        provides=entry.optional_text("provides"),
        evidence=evidence,
        numbered_as=entry.optional_choice("numbered-as", Numbering),
        cpu_only_without=entry.optional_choice("cpu-only-without", Lack),
        built_with=entry.texts("built-with"),
        compiles_alone=entry.flag("compiles-alone"),
        on_pytorch_indexes=entry.flag("on-pytorch-indexes"),
        plugin=entry.flag("plugin"),
        logged_as=entry.optional_text("logged-as"),
    )
