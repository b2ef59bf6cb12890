"""Which of the project's requirements clash, from the metadata of wheels alone, before any lock.

The solver's own resolver is asked like uv: every requirement as written, no card, no rule. Where it
ends, two of its causes exclude each other. Then what clashes is set aside and it is asked again, so
that several clashes come out of one look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from resolvelib import BaseReporter, ResolutionImpossible, ResolutionTooDeep, Resolver

from stackfix.audit.forks import lowest_python
from stackfix.model.environment import TargetEnvironment
from stackfix.model.stack import Stack
from stackfix.plan.edits.specifier import exact, kept_clauses
from stackfix.plan.request import Request
from stackfix.plan.unlockable.conflicts import Item, locked_apart
from stackfix.solve.problem import Problem, StackRequirement
from stackfix.solve.provider import Candidate, StackProvider
from stackfix.solve.upgrade import UvCandidates
from stackfix_knowledge.evidence import Evidence, EvidenceKind
from stackfix_lockfiles.platforms import Platform
from stackfix_lockfiles.requirement import DeclaredRequirement

__all__ = ["Clash", "Side", "clashes"]

ROUNDS = 2000
"""Steps of one resolution; real projects need a few dozen."""
MOST = 8
"""Clashes told of one project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the demands that exclude each other."""

    demand: StackRequirement
    root: DeclaredRequirement
    """What of the project's own makes it, or brings the package that does."""
    maker: str | None = None
    """The package whose wheel says so, "torch 2.7.1"; None: the project itself."""
    evidence: tuple[Evidence, ...] = ()
    also: tuple[Version, ...] = ()
    """Other versions of the maker that the project admits, and that exclude the other side too."""

    @property
    def direct(self) -> bool:
        """Whether the project names the maker itself."""
        return self.maker is None or self.maker.partition(" ")[0] == self.root.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """Demands on one package that no version of it meets."""

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
        makers = (side.maker.partition(" ")[0] for side in self.sides if side.maker)
        return frozenset({self.package, *makers, *(side.root.name for side in self.sides)})


def clashes(request: Request) -> tuple[Clash, ...]:
    """What clashes, as far as the facts know the wheels; none where they know of nothing.

    What is chosen comes first, and alternatives to it only if that is sound.
    """
    environments = _environments(request)
    homes = _homes(request)
    for left_out in locked_apart(request):
        declared = tuple(_declared(request, environments, left_out))
        if found := tuple(_together(request, environments, declared, homes)):
            return found
    return ()


def _together(
    request: Request,
    environments: tuple[TargetEnvironment, ...],
    declared: Sequence[DeclaredRequirement],
    homes: Mapping[str, Version],
) -> Iterator[Clash]:
    """The clashes of requirements that uv locks together, one after another."""
    aside: set[str] = set()
    for _ in range(MOST):
        clash = _Look(request, environments, declared, homes, aside).clash()
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
        marker = declared.requirement.marker
        extra = {"extra": declared.extra or ""}
        if marker is None or any(
            marker.evaluate({**environment.markers, **extra}) for environment in environments
        ):
            yield declared


def _homes(request: Request) -> dict[str, Version]:
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
        home = named.get(source.value) if source.kind == "index" else None
        if home is not None:
            found[source.package] = Version(f"0+{home}")
    return found


class _Look:
    """One resolution with some packages' own requirements set aside."""

    def __init__(
        self,
        request: Request,
        environments: tuple[TargetEnvironment, ...],
        declared: Sequence[DeclaredRequirement],
        homes: Mapping[str, Version],
        aside: set[str],
    ) -> None:
        self._roots: dict[StackRequirement, DeclaredRequirement] = {}
        outside: dict[str, tuple[StackRequirement, ...]] = {}
        pinned: dict[str, Version] = {}
        for one in declared:
            specifier = one.requirement.specifier
            for demand in StackRequirement.of(one.requirement, f"{one.file} line {one.line}"):
                if request.graph.packages.get(demand.name) is None:
                    outside[demand.name] = (*outside.get(demand.name, ()), demand)
                    continue
                if one.name in aside:
                    demand = StackRequirement(demand.key, kept_clauses(specifier), demand.origin)
                self._roots.setdefault(demand, one)
            if one.name not in aside and (version := exact(specifier)) is not None:
                home = homes.get(one.name)
                local = f"+{home.local}" if home and not version.local else ""
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
            held={},
            python=lowest_python(request.project.requires_python or ""),
            required=_joint(limits),
        )
        self._domain = UvCandidates(self._problem, {**homes, **pinned})

    def clash(self) -> Clash | None:
        """The first clash; None where all goes together, or nothing tells why not."""
        resolver: Resolver[StackRequirement, Candidate, str] = Resolver(
            StackProvider(self._problem, self._domain), BaseReporter()
        )
        try:
            resolver.resolve(list(self._roots), max_rounds=ROUNDS)
        except ResolutionImpossible as impossible:
            causes = [(cause.requirement, cause.parent) for cause in impossible.causes]
            return self._told(causes)
        except ResolutionTooDeep:
            pass
        return None

    def _told(self, causes: Sequence[tuple[StackRequirement, Candidate | None]]) -> Clash | None:
        by_name: dict[str, dict[StackRequirement, Candidate | None]] = {}
        for demand, parent in causes:
            by_name.setdefault(demand.name, {}).setdefault(demand, parent)
        for name, made in by_name.items():
            looked = [self._side(demand, parent) for demand, parent in made.items()]
            sides = [side for side in looked if side is not None]
            # The project's own word first, against what a wheel says.
            sides.sort(key=lambda side: (side.maker is not None, side.root.line))
            for one, other in combinations(sides, 2):
                if one.demand.specifier != other.demand.specifier and not self._meet(one, other):
                    also = self._as_well(one, other)
                    return Clash(package=name, sides=(one, also))
        return None

    def _meet(self, one: Side, other: Side) -> bool:
        """Whether some known version meets both."""
        return self._both(one.demand, other.demand)

    def _both(self, one: StackRequirement, other: StackRequirement) -> bool:
        versions = [choice.version for choice in self._domain.choices(one.name)]
        versions += [v for d in (one, other) if (v := exact(d.specifier)) is not None]
        joint = one.specifier & other.specifier
        return any(joint.contains(version, prereleases=True) for version in versions)

    def _side(self, demand: StackRequirement, parent: Candidate | None) -> Side | None:
        if not demand.specifier:
            return None
        if parent is None:
            root = self._roots.get(demand)
            return None if root is None else Side(demand=demand, root=root)
        found = self._brought(parent)
        if found is None:
            return None
        return Side(
            demand=demand,
            root=found,
            maker=f"{parent.name} {parent.version}",
            evidence=tuple(_evidence(self._problem, parent)),
        )

    def _brought(self, wanted: Candidate) -> DeclaredRequirement | None:
        """The project's requirement that leads to a package; one on the package itself first."""
        direct = [d for demand, d in self._roots.items() if demand.key == wanted.key]
        direct.sort(key=lambda declared: not declared.requirement.specifier)
        for declared in (*direct, *self._roots.values()):
            queue = [d.key for d, one in self._roots.items() if one is declared]
            seen: set[str] = set()
            while queue:
                key = queue.pop()
                if key == wanted.key:
                    return declared
                if key in seen or not self._problem.is_stack(key.partition("[")[0]):
                    continue
                seen.add(key)
                queue += [demand.key for demand in self._next(key)]
        return None

    def _next(self, key: str) -> tuple[StackRequirement, ...]:
        """What the newest admitted version of a package asks for."""
        asked = [d.specifier for d in self._roots if d.key == key]
        for choice in self._domain.choices(key.partition("[")[0]):
            if all(specifier.contains(choice.version, prereleases=True) for specifier in asked):
                return self._domain.demands(key, choice.version, choice.release)
        return ()

    def _as_well(self, one: Side, other: Side) -> Side:
        """`other` with the further versions of its maker that exclude `one` alike.

        None are named where some version would go with it: then the clash has another reason too.
        """
        name, _, version = (other.maker or "").partition(" ")
        if not other.direct or not version:
            return other
        also: list[Version] = []
        for choice in self._domain.choices(name):
            admitted = other.root.requirement.specifier.contains(choice.version, prereleases=True)
            if not admitted or str(choice.version) == version:
                continue
            demands = self._domain.demands(name, choice.version, choice.release)
            mine = [d for d in demands if d.name == one.demand.name]
            if all(self._both(one.demand, demand) for demand in mine):
                return other
            also.append(choice.version)
        return Side(
            demand=other.demand,
            root=other.root,
            maker=other.maker,
            evidence=other.evidence,
            also=tuple(sorted(also)),
        )


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
