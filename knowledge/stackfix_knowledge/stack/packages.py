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
    """Every package of the stack, by normalised name, each read when it is first asked for."""

    def __init__(
        self,
        entries: Mapping[str, tuple[Role, Entry]],
        evidence: tuple[Evidence, ...] = (),
        *,
        overridable: tuple[str, ...] = (),
        loaded_once: tuple[str, ...] = (),
        own: Iterable[str] = (),
    ) -> None:
        self._entries = entries
        self._evidence = evidence
        self._own = {name: _own(name) for name in own if name not in entries}
        self._names = {*entries, *self._own}
        self._known: dict[str, Package] = {}
        self.on_pytorch_indexes = tuple(
            name for name, (_, entry) in entries.items() if entry.data.get("on-pytorch-indexes")
        )
        """The packages that PyTorch's own indexes have builds of, torch first."""
        self.overridable = overridable
        """Libraries that a framework can be given another version of than it requires, in the
        order in which their versions are given up."""
        self.loaded_once = loaded_once
        """Libraries that a process loads once, so that an old copy left somewhere matters."""

    @classmethod
    def load(cls, own: Iterable[str] = ()) -> PackageTable:
        """The shipped table; a project's `own` packages count as companions to be judged."""
        return parse_packages(read_facts("packages.toml"), own)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[Package]:
        yield from map(self._read, self._entries)
        yield from self._own.values()

    def __len__(self) -> int:
        return len(self._names)

    def is_stack(self, name: str) -> bool:
        """Whether the graph knows this package as part of the stack."""
        return name in self._names

    def is_library(self, name: str) -> bool:
        """Whether it is one of NVIDIA's libraries that holds code, such as cuDNN or NCCL."""
        package = self.get(name)
        return package is not None and package.role is Role.LIBRARY and package.judged

    def get(self, name: str) -> Package | None:
        """The package of that normalised name."""
        return self._read(name) if name in self._entries else self._own.get(name)

    def providing(self, library: str) -> tuple[Package, ...]:
        """The packages that are this library, one for each CUDA major ("cudnn")."""
        return self._with("provides", library)

    def logged_as(self, component: str) -> tuple[str, ...]:
        """The names of the packages that lines of a log call so ("cudnn", "jax")."""
        return tuple(
            p.name for p in self if component in (p.logged_as or p.provides or p.name, p.name)
        )

    def family(self, name: str) -> tuple[Package, ...]:
        """The packages of one family."""
        own = (package for package in self._own.values() if package.family == name)
        return (*self._with("family", name), *own)

    def _with(self, key: str, value: str) -> tuple[Package, ...]:
        return tuple(
            self._read(name)
            for name, (_, entry) in self._entries.items()
            if entry.data.get(key) == value
        )

    def _read(self, name: str) -> Package:
        if name not in self._known:
            role, entry = self._entries[name]
            self._known[name] = _package(name, role, entry, self._evidence)
        return self._known[name]


@cache
def package_table() -> PackageTable:
    """The shipped table, read once."""
    return PackageTable.load()


def parse_packages(file: Entry, own: Iterable[str] = ()) -> PackageTable:
    """Read a file of packages. Raises FactsError, over a package when that is asked for."""
    file.only("sources", "overridable", "loaded-once", *Role)
    entries: dict[str, tuple[Role, Entry]] = {}
    for role in Role:
        tables = file.entry(role)
        for name in tables.data:
            if name in entries:
                raise tables.fault(name, "each package once")
            entries[name] = (role, tables.entry(name))
    table = PackageTable(
        entries,
        tuple(file.sources().values()),
        overridable=file.texts("overridable"),
        loaded_once=file.texts("loaded-once"),
        own=own,
    )
    for key in ("overridable", "loaded-once"):
        for library in file.texts(key):
            if not table.providing(library):
                raise file.fault(key, f"libraries that a package provides, not {library}")
    return table


def _own(name: str) -> Package:
    """A package of a project's own, which counts as a companion to be judged."""
    return Package(
        name=name,
        role=Role.COMPANION,
        family=name,
        judged=True,
        cuda_major=None,
        provides=None,
        evidence=(),
    )


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
