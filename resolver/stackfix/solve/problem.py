"""The problem of one solve: what is locked, what may move, and what holds it.

Everything is plain data, made once from project, lock and graph; the provider answers resolvelib's
questions from it and never looks at a file.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Protocol, TypeAlias

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from stackfix.model.environment import TargetEnvironment
from stackfix.model.policy import DEFAULT_POLICY, Policy
from stackfix.solve.cost import Cost, plus
from stackfix.solve.variant_swap import VariantSwap
from stackfix_knowledge.graph import Graph

__all__ = [
    "PLAN",
    "SAME_INDEX",
    "Asked",
    "Home",
    "IndexChoice",
    "Problem",
    "StackRequirement",
    "parse_requirement",
]

Home: TypeAlias = str | None
"""Where a package of PyTorch's comes from: an index of theirs by name, None for the default one."""

PLAN = "this plan"
"""Origin of the demands that the search itself makes."""


@lru_cache(maxsize=65536)
def parse_requirement(text: str) -> Requirement | None:
    """A Requires-Dist line; None when it is not a valid requirement (old metadata has some)."""
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


@dataclass(frozen=True, slots=True)
class StackRequirement:
    """A requirement inside the solve, with who makes it.

    `key` is "torch", "jax[cuda12]" (an extra is a key of its own), or something that only one
    `owner` may have: "file:PATH" (a path that one package of the environment installs),
    "index:torch" (PyTorch's packages come from one index, all of them) and "cuda:PLATFORM" (who
    takes CUDA's libraries from torch is built for the same major).
    """

    key: str
    specifier: SpecifierSet
    origin: str
    owner: str | None = None
    unmoved: bool = False
    """Made by a package at its locked version: nothing that the plan brings about."""

    @property
    def name(self) -> str:
        """The package without its extra."""
        return self.key.partition("[")[0]

    def __str__(self) -> str:
        return f"{self.key}{self.specifier}"

    @staticmethod
    def of(
        requirement: Requirement, origin: str, *, unmoved: bool = False
    ) -> tuple[StackRequirement, ...]:
        """The demands of a requirement: on the package, and on each of its extras."""
        name = canonicalize_name(requirement.name)
        keys = [name, *(f"{name}[{canonicalize_name(e)}]" for e in sorted(requirement.extras))]
        return tuple(
            StackRequirement(key, requirement.specifier, origin, None, unmoved) for key in keys
        )


class Asked(Protocol):
    """What resolvelib's RequirementInformation offers."""

    @property
    def requirement(self) -> StackRequirement: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexChoice:
    """The homes that PyTorch's packages may be taken from, beside where each is."""

    open: frozenset[Home] = frozenset()
    closed: Mapping[Home, str] = field(default_factory=dict)
    """Homes that are no choice, each with the reason in words."""
    named: frozenset[Home] = frozenset({None})
    """Those that take no new index in the project."""


SAME_INDEX = IndexChoice()
"""Nothing changes its home."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Inputs of a solve."""

    graph: Graph
    environments: tuple[TargetEnvironment, ...]
    locked: Mapping[str, Version]
    """Version of every locked package that the targets install; the targets' where forks differ."""
    roots: tuple[StackRequirement, ...]
    """Demands on the stack from outside it: the project, and packages that stay."""
    declared: Mapping[str, tuple[StackRequirement, ...]]
    """Demands of the project on packages outside the stack."""
    overrides: Mapping[str, SpecifierSet]
    """The user's overrides: they replace every other requirement on that package."""
    held: Mapping[str, str]
    """Packages that must stay as locked, each with the reason in words."""
    python: str
    """Lowest Python that the project supports, "3.11"."""
    required: Mapping[str, SpecifierSet] = field(default_factory=dict)
    """What the user asked for with `--require`."""
    set_aside: int = 0
    """How many overrides of the user's are not among `overrides`."""
    relaxed: frozenset[str] = frozenset()
    """Libraries whose exact pins may be overridden within their major."""
    homes: IndexChoice = SAME_INDEX
    policy: Policy = DEFAULT_POLICY
    """Which findings rule a version or a stack out."""
    exchange: VariantSwap | None = None
    """Variants that the project asks for in place of the declared ones; `roots` has them."""
    _truths: dict[tuple[str, str, str], bool] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def price(self) -> Cost:
        """What every solution of this problem costs before anything moves."""
        aside = Cost(override=self.set_aside)
        return aside if self.exchange is None else plus(aside, self.exchange.price)

    def exchanging(self, exchange: VariantSwap) -> Problem:
        """This problem with the project asking for other variants.

        Only the project may ask for what is exchanged: roots are told apart by what they ask for.
        """
        roots = dict.fromkeys(replace(r, key=exchange.key(r.key)) for r in self.roots)
        return replace(self, roots=tuple(roots), exchange=exchange)

    def start(self, name: str) -> Version | None:
        """Where a package's moves start: its locked version, or that of what it stands in for."""
        names = (name, *(self.exchange.predecessors(name) if self.exchange else ()))
        return next((self.locked[one] for one in names if one in self.locked), None)

    def installs(self, environment: TargetEnvironment, name: str) -> bool:
        """Whether a environment has the package today, or what it stands in for."""
        names = (name, *(self.exchange.predecessors(name) if self.exchange else ()))
        return any(one in environment.stack.pieces for one in names)

    def present(self, name: str) -> bool:
        """Whether some environment installs the package today."""
        return name in self.locked

    def is_stack(self, name: str) -> bool:
        """Whether the solver chooses the package's version.

        Of a package that is not there and whose releases nobody recorded there is none to choose:
        uv will find one.
        """
        if self.graph.packages.get(name) is None:
            return False
        return self.present(name) or bool(self.graph.releases(name))

    def applying(
        self, requires: Iterable[str], platforms: Container[str], extra: str = ""
    ) -> list[Requirement]:
        """The requirements whose marker holds on some target (of `platforms`) with this extra."""
        environments = {
            environment.platform: environment
            for environment in self.environments
            if environment.platform in platforms
        }
        found = []
        for text in requires:
            requirement = parse_requirement(text)
            if requirement is None:
                continue
            marker = requirement.marker
            if extra and (marker is None or "extra" not in str(marker)):
                continue
            for platform, environment in environments.items():
                key = (text.partition(";")[2], platform, extra)
                holds = self._truths.get(key)  # most lines have one of a few markers
                if holds is None:
                    truths = {**environment.markers, "extra": extra}
                    holds = self._truths[key] = marker is None or marker.evaluate(truths)
                if holds:
                    found.append(requirement)
                    break
        return found
