"""The problem of one solve: what is locked, what may move, and what holds it.

Everything is plain data, made once from project, lock and graph; the provider answers resolvelib's
questions from it and never looks at a file.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.model.environment import TargetEnvironment
from stackfix.model.policy import DEFAULT_POLICY, Policy
from stackfix.solve.cost import Cost, plus
from stackfix.solve.terms import PackageKey, StackRequirement
from stackfix_knowledge.graph import Graph
from stackfix_knowledge.stack.variants import Variant
from stackfix_knowledge.wheels.release import Release, WheelFact
from stackfix_lockfiles.requirement import full_requirement

__all__ = [
    "SAME_INDEX",
    "IndexChoice",
    "IndexName",
    "Problem",
    "VariantSwap",
]

IndexName: TypeAlias = str | None
"""Where a package of PyTorch's comes from: an index of theirs by name, None for the default one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexChoice:
    """The indexes that PyTorch's packages may be taken from, beside where each is now."""

    open: frozenset[IndexName] = frozenset()
    closed: Mapping[IndexName, str] = field(default_factory=dict)
    """Indexes that cannot be taken all the same, each with the reason in words."""
    named: frozenset[IndexName] = frozenset({None})
    """Those that take no new index in the project."""


SAME_INDEX = IndexChoice()
"""Every package stays with its index."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSwap:
    """The project's variants of one CUDA major asked for in another one, all together."""

    cuda: int
    swaps: Mapping[PackageKey, Variant]
    """By what the project asks for now: jax[cuda13] → jax[cuda12]."""
    price: Cost

    def key(self, key: PackageKey) -> PackageKey:
        """What is asked for in place of something else; itself where nothing changes.

        A package's other extras go with it: cupy-cuda12x[ctk] becomes cupy-cuda13x[ctk].
        """
        if (new := self.swaps.get(key)) is not None:
            return PackageKey(new.package, new.extra or "")
        if (new := self.swaps.get(PackageKey(key.name))) is not None:
            return PackageKey(new.package, key.extra)
        return key

    @property
    def keys(self) -> frozenset[PackageKey]:
        """What is asked for because of the swap."""
        return frozenset(PackageKey(new.package, new.extra or "") for new in self.swaps.values())

    def predecessors(self, name: str) -> tuple[str, ...]:
        """The packages in whose place the project asks for this one."""
        return tuple(
            old.name for old, new in self.swaps.items() if new.extra is None and new.package == name
        )

    def __str__(self) -> str:
        """ "jax[cuda12] for jax[cuda13]"."""
        return ", ".join(f"{new} for {old}" for old, new in self.swaps.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Inputs of a solve."""

    graph: Graph
    environments: tuple[TargetEnvironment, ...]
    locked: Mapping[str, Version]
    """Version of every locked package that the targets install; the targets' where forks differ."""
    roots: tuple[StackRequirement, ...]
    """Requirements on the stack from outside it: the project, and packages that stay."""
    declared: Mapping[str, tuple[StackRequirement, ...]]
    """Requirements of the project on packages outside the stack."""
    overrides: Mapping[str, SpecifierSet]
    """The user's overrides: they replace every other requirement on that package."""
    fixed: Mapping[str, str]
    """Packages that must stay as locked, each with the reason in words."""
    python: str
    """Lowest Python that the project supports, "3.11"."""
    required: Mapping[str, SpecifierSet] = field(default_factory=dict)
    """What the user asked for with `--require`."""
    set_aside: int = 0
    """How many overrides of the user's are not among `overrides`."""
    relaxed: frozenset[str] = frozenset()
    """Libraries whose exact pins may be overridden within their major."""
    index_choice: IndexChoice = SAME_INDEX
    policy: Policy = DEFAULT_POLICY
    """Which findings rule a version or a stack out."""
    variant_swap: VariantSwap | None = None
    """Variants that the project asks for in place of the declared ones; `roots` has them."""
    _marker_truths: dict[tuple[str, str, str], bool] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def price(self) -> Cost:
        """What every solution of this problem costs before anything moves."""
        aside = Cost(override=self.set_aside)
        return aside if self.variant_swap is None else plus(aside, self.variant_swap.price)

    def swapping(self, variant_swap: VariantSwap) -> Problem:
        """This problem with the project asking for other variants.

        Only the project may ask for what is swapped: roots are known by what they ask for.
        """
        roots = dict.fromkeys(replace(r, key=variant_swap.key(r.key)) for r in self.roots)
        return replace(self, roots=tuple(roots), variant_swap=variant_swap)

    def start(self, name: str) -> Version | None:
        """Where a package's moves start: its locked version, or that of what it stands in for."""
        return next((self.locked[one] for one in self._places(name) if one in self.locked), None)

    def installs(self, environment: TargetEnvironment, name: str) -> bool:
        """Whether an environment has the package today, or what it stands in for."""
        return any(one in environment.stack.pieces for one in self._places(name))

    def _places(self, name: str) -> tuple[str, ...]:
        """The package, and those in whose place the project asks for it."""
        return (name, *(self.variant_swap.predecessors(name) if self.variant_swap else ()))

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

    def wheels(self, release: Release | None) -> dict[str, WheelFact]:
        """The wheels of a release that the environments would install, by platform."""
        if release is None:
            return {}
        platforms = dict.fromkeys(environment.platform for environment in self.environments)
        wheels = {platform: release.wheel(platform) for platform in platforms}
        return {platform: wheel for platform, wheel in wheels.items() if wheel is not None}

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
            requirement = full_requirement(text)
            if requirement is None:
                continue
            marker = requirement.marker
            if extra and (marker is None or "extra" not in str(marker)):
                continue
            for platform, environment in environments.items():
                key = (text.partition(";")[2], platform, extra)
                holds = self._marker_truths.get(key)  # most lines have one of a few markers
                if holds is None:
                    truths = {**environment.markers, "extra": extra}
                    holds = marker is None or marker.evaluate(truths)
                    self._marker_truths[key] = holds
                if holds:
                    found.append(requirement)
                    break
        return found
