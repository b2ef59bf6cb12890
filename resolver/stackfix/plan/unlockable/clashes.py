"""Which of the project's requirements clash, from the metadata of wheels alone, before any lock.

The solver's own resolver is asked like uv: every requirement as written, no card, no rule. Where it
ends, two of its causes exclude each other. Then what clashes is set aside and it is asked again, so
that several clashes come out of one look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from resolvelib import ResolutionImpossible, ResolutionTooDeep

from stackfix.audit.forks import lowest_python
from stackfix.model.environment import TargetEnvironment
from stackfix.model.stack import Stack
from stackfix.plan.request import Request
from stackfix.plan.unlockable.conflicts import Item, locked_apart
from stackfix.solve.candidates import Candidates
from stackfix.solve.preference import UvPreference
from stackfix.solve.problem import Problem
from stackfix.solve.provider import Cause, resolved
from stackfix.solve.specifier import exact, kept_clauses
from stackfix.solve.terms import Candidate, PackageKey, Placeholder, StackRequirement
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_lockfiles.platforms import Platform
from stackfix_lockfiles.requirement import DeclaredRequirement

__all__ = ["Clash", "Side", "clashes"]

MOST = 8
"""Clashes told of one project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the requirements that exclude each other."""

    requirement: StackRequirement
    root: DeclaredRequirement
    """What of the project's own makes it, or brings the package that does."""
    maker: Candidate | None = None
    """The version whose wheel says so; None: the project itself."""
    evidence: tuple[Evidence, ...] = ()
    also: tuple[Version, ...] = ()
    """Other versions of the maker that the project admits, and that exclude the other side too."""

    @property
    def direct(self) -> bool:
        """Whether the project names the maker itself."""
        return self.maker is None or self.maker.name == self.root.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Requirements on one package that no version of it meets."""

    package: str
    sides: tuple[Side, ...]

    @property
    def set_aside(self) -> str:
        """The package whose requirements are in the way: the contested one, if the project limits
        it, else the last that asks for something else."""
        if any(side.maker is None for side in self.sides):
            return self.package
        return self.sides[-1].root.name

    @property
    def packages(self) -> frozenset[str]:
        """The contested package, those that contest it, and those that bring these."""
        makers = (side.maker.name for side in self.sides if side.maker)
        return frozenset({self.package, *makers, *(side.root.name for side in self.sides)})


def clashes(request: Request) -> tuple[Clash, ...]:
    """What clashes, as far as the facts know the wheels; none where they know of nothing.

    What is chosen comes first, and alternatives to it only if that is sound.
    """
    environments = _environments(request)
    indexes = _indexes(request)
    for left_out in locked_apart(request):
        declared = tuple(_declared(request, environments, left_out))
        if found := tuple(_together(request, environments, declared, indexes)):
            return found
    return ()


def _together(
    request: Request,
    environments: tuple[TargetEnvironment, ...],
    declared: Sequence[DeclaredRequirement],
    indexes: Mapping[str, Version],
) -> Iterator[Clash]:
    """The clashes of requirements that uv locks together, one after another."""
    aside: set[str] = set()
    for _ in range(MOST):
        clash = _Look(request, environments, declared, indexes, aside).clash()
        if clash is None or clash.set_aside in aside:
            return
        aside.add(clash.set_aside)
        yield clash


def _environments(request: Request) -> tuple[TargetEnvironment, ...]:
    """The targets' platforms with the project's lowest Python, and nothing installed yet."""
    lowest = lowest_python(request.project.requires_python or "")
    python = request.python or lowest
    return tuple(
        TargetEnvironment(
            target=target,
            stack=Stack(platform=target.platform, python=python, pieces={}),
            markers=Platform.parse(target.platform).markers(_full(python)),
        )
        for target in request.targets
    )


def _full(python: str) -> str:
    return python if python.count(".") > 1 else f"{python}.0"


def _declared(
    request: Request, environments: Iterable[TargetEnvironment], left_out: Collection[Item]
) -> Iterator[DeclaredRequirement]:
    """The requirements that uv locks together: those of all extras and groups but some."""
    for declared in request.project.requirements:
        if declared.requirement.url is not None or (declared.extra, declared.group) in left_out:
            continue
        marker, extra = declared.requirement.marker, declared.extra or ""
        if any(environment.holds(marker, extra) for environment in environments):
            yield declared


def _indexes(request: Request) -> dict[str, Version]:
    """Packages that come from one of PyTorch's indexes, by a version with that local part."""
    known, packages = request.graph.indexes, request.graph.packages.on_pytorch_indexes
    project = request.project
    found: dict[str, Version] = {}
    for index in project.indexes:
        name = known.name_of(index.url)
        if name is not None and not index.explicit:
            found |= dict.fromkeys(packages, Version(f"0+{name}"))
    named = {index.name: known.name_of(index.url) for index in project.source_indexes}
    for source in project.sources:
        name = named.get(source.value) if source.kind == "index" else None
        if name is not None:
            found[source.package] = Version(f"0+{name}")
    return found


class _Look:
    """One resolution with some packages' own requirements set aside."""

    def __init__(
        self,
        request: Request,
        environments: tuple[TargetEnvironment, ...],
        declared: Sequence[DeclaredRequirement],
        indexes: Mapping[str, Version],
        aside: set[str],
    ) -> None:
        self._roots: dict[StackRequirement, DeclaredRequirement] = {}
        outside: dict[str, tuple[StackRequirement, ...]] = {}
        pinned: dict[str, Version] = {}
        for one in declared:
            specifier = one.requirement.specifier
            requirements = StackRequirement.of(one.requirement, f"{one.file} line {one.line}")
            if request.graph.packages.get(one.name) is None:
                outside[one.name] = (*outside.get(one.name, ()), *requirements)
            else:
                for root in requirements:
                    if one.name in aside:
                        root = replace(root, specifier=kept_clauses(specifier))
                    self._roots.setdefault(root, one)
            if one.name not in aside and (version := exact(specifier)) is not None:
                index = indexes.get(one.name)
                local = f"+{index.local}" if index and not version.local else ""
                pinned.setdefault(one.name, Version(f"{version}{local}"))
        limits = [c for c in request.project.constraints if c.name not in aside]
        overrides = {d.name: d.requirement.specifier for d in request.project.overrides}
        self._problem = Problem(
            graph=request.graph,
            environments=environments,
            locked=pinned,
            roots=tuple(self._roots),
            declared=outside,
            overrides={name: specifier for name, specifier in overrides.items() if specifier},
            fixed={},
            python=lowest_python(request.project.requires_python or ""),
            required=_joint(limits),
        )
        uv = UvPreference(self._problem, {**indexes, **pinned})
        self._candidates = Candidates(self._problem, uv)

    def clash(self) -> Clash | None:
        """The first clash; None where all goes together, or nothing tells why not."""
        try:
            resolved(self._candidates, self._roots)
        except ResolutionImpossible as impossible:
            return self._explained(impossible.causes)
        except ResolutionTooDeep:
            pass
        return None

    def _explained(self, causes: Iterable[Cause]) -> Clash | None:
        by_name: dict[str, dict[StackRequirement, Candidate | None]] = {}
        for requirement, parent in causes:
            if isinstance(requirement, StackRequirement) and not isinstance(parent, Placeholder):
                by_name.setdefault(requirement.name, {}).setdefault(requirement, parent)
        for name, made in by_name.items():
            looked = [self._side(requirement, parent) for requirement, parent in made.items()]
            sides = [side for side in looked if side is not None]
            # The project's own word first, against what a wheel says.
            sides.sort(key=lambda side: (side.maker is not None, side.root.line))
            for one, other in combinations(sides, 2):
                specifiers = one.requirement.specifier, other.requirement.specifier
                if specifiers[0] != specifiers[1] and not self._meet(one, other):
                    return Clash(package=name, sides=(one, self._with_alike(one, other)))
        return None

    def _meet(self, one: Side, other: Side) -> bool:
        """Whether some known version meets both."""
        return self._both(one.requirement, other.requirement)

    def _both(self, one: StackRequirement, other: StackRequirement) -> bool:
        versions = [candidate.version for candidate in self._candidates.of(one.name)]
        pins = (exact(requirement.specifier) for requirement in (one, other))
        versions += (version for version in pins if version is not None)
        joint = one.specifier & other.specifier
        return any(joint.contains(version, prereleases=True) for version in versions)

    def _side(self, requirement: StackRequirement, maker: Candidate | None) -> Side | None:
        if not requirement.specifier:
            return None
        if maker is None:
            root = self._roots.get(requirement)
            return None if root is None else Side(requirement=requirement, root=root)
        root = self._bringing(maker.key)
        if root is None:
            return None
        evidence = tuple(_evidence(self._problem, maker))
        return Side(requirement=requirement, root=root, maker=maker, evidence=evidence)

    def _bringing(self, wanted: PackageKey) -> DeclaredRequirement | None:
        """The project's requirement that leads to a package; one on the package itself first."""
        direct = [one for root, one in self._roots.items() if root.key == wanted]
        direct.sort(key=lambda declared: not declared.requirement.specifier)
        for declared in (*direct, *self._roots.values()):
            queue = [root.key for root, one in self._roots.items() if one is declared]
            seen: set[PackageKey] = set()
            while queue:
                key = queue.pop()
                if key == wanted:
                    return declared
                if key in seen or not self._problem.is_stack(key.name):
                    continue
                seen.add(key)
                queue += self._next(key)
        return None

    def _next(self, key: PackageKey) -> list[PackageKey]:
        """What the newest admitted version of a package asks for."""
        specifiers = [root.specifier for root in self._roots if root.key == key]
        for candidate in self._candidates.of(key.name):
            if all(one.contains(candidate.version, prereleases=True) for one in specifiers):
                asking = replace(candidate, key=key)
                return [one.key for one in self._stated(asking)]
        return []

    def _stated(self, candidate: Candidate) -> list[StackRequirement]:
        """What metadata says that a candidate asks for."""
        asked = self._candidates.dependencies(candidate)
        return [one for one in asked if isinstance(one, StackRequirement)]

    def _with_alike(self, one: Side, other: Side) -> Side:
        """`other` with the further versions of its maker that exclude `one` alike.

        None are named where some version would go with it: then the clash has another reason too.
        """
        maker = other.maker
        if maker is None or not other.direct:
            return other
        also: list[Version] = []
        admitted = other.root.requirement.specifier
        for candidate in self._candidates.of(maker.name):
            version = candidate.version
            if version == maker.version or not admitted.contains(version, prereleases=True):
                continue
            asked = (r for r in self._stated(candidate) if r.name == one.requirement.name)
            if all(self._both(one.requirement, requirement) for requirement in asked):
                return other
            also.append(version)
        return replace(other, also=tuple(sorted(also)))


def _joint(limits: Iterable[DeclaredRequirement]) -> dict[str, SpecifierSet]:
    found: dict[str, SpecifierSet] = {}
    for declared in limits:
        specifier = declared.requirement.specifier
        found[declared.name] = found.get(declared.name, SpecifierSet()) & specifier
    return found


def _evidence(problem: Problem, candidate: Candidate) -> Iterator[Evidence]:
    """What says what a candidate asks for: its metadata, or where nobody read that, documents."""
    if candidate.release is None:
        return
    wheels = (candidate.release.wheel(environment.platform) for environment in problem.environments)
    known = list(dict.fromkeys(e for wheel in wheels if wheel for e in wheel.evidence))
    read = [evidence for evidence in known if evidence.kind is EvidenceKind.METADATA]
    yield from {evidence.source: evidence for evidence in read or known[-1:]}.values()
