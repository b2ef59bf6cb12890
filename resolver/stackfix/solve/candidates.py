"""Which versions of a stack package can be chosen, in order of preference, and what each asks.

A version that has an error on some target by itself never becomes a choice; the findings are kept,
so that an impossible plan can say why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from stackfix.model.finding import Finding
from stackfix.rules.judge import judge_piece
from stackfix.rules.sf109_unmeasured import is_unknown
from stackfix.solve.builds import cuda_majors
from stackfix.solve.cost import Cost, cost
from stackfix.solve.dead_ends import DeadEnds
from stackfix.solve.pins import pinned, within_major
from stackfix.solve.problem import Problem, StackRequirement
from stackfix_knowledge.evidence import FactSeverity
from stackfix_knowledge.stack.couplings import Collision, Coupling, Relation
from stackfix_knowledge.stack.packages import Role
from stackfix_knowledge.wheels.release import Release, WheelFact

__all__ = ["Candidates", "Choice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One version of a package that may be chosen."""

    version: Version
    release: Release | None
    cost: Cost


class Candidates:
    """The choices of every stack package in one problem, worked out when first asked for.

    `beside` holds candidates of a problem with the same targets and graph: what was found out there
    about single versions holds here too.
    """

    def __init__(self, problem: Problem, beside: Candidates | None = None) -> None:
        self._problem = problem
        self._choices: dict[str, tuple[Choice, ...]] = {}
        self._demands: dict[tuple[str, Version], tuple[StackRequirement, ...]] = {}
        self._admitted: dict[tuple[str, SpecifierSet], frozenset[Version]] = {}
        self._costs: dict[str, dict[Version, Cost]] = {}
        self._refused: dict[str, dict[Version, str]] = {}
        self._faults: dict[tuple[str, Version], list[Finding]] = (
            {} if beside is None else beside._faults
        )
        self._matching: dict[tuple[str, frozenset[SpecifierSet]], tuple[Choice, ...]] = {}
        self._hopeless = DeadEnds(problem, self)

    @property
    def problem(self) -> Problem:
        """What the choices are for."""
        return self._problem

    def choices(self, name: str) -> tuple[Choice, ...]:
        """Versions without an error of their own, the preferred first."""
        found = self._choices.get(name)
        if found is None:
            found = self._choices[name] = tuple(self._find(name))
        return found

    def admitted(self, name: str, specifier: SpecifierSet) -> frozenset[Version]:
        """The choices of a package that a specifier admits; asked again and again by the solve."""
        key = (name, specifier)
        found = self._admitted.get(key)
        if found is None:
            versions = [choice.version for choice in self.choices(name)]
            found = self._admitted[key] = frozenset(specifier.filter(versions, prereleases=True))
        return found

    def matching(self, key: str, asked: frozenset[SpecifierSet]) -> tuple[Choice, ...]:
        """The choices for a key that all specifiers admit and nothing speaks against by itself."""
        place = (key, asked)
        found = self._matching.get(place)
        if found is None:
            found = self._matching[place] = tuple(
                choice
                for choice in self.candidates(key, asked)
                if self.hopeless(key, choice.version, choice.release) is None
            )
        return found

    def candidates(self, key: str, asked: Iterable[SpecifierSet]) -> Iterator[Choice]:
        """The choices for a key that all specifiers admit, the preferred first."""
        name = key.partition("[")[0]
        admitted = [self.admitted(name, specifier) for specifier in asked]
        for choice in self.choices(name):
            fits = all(choice.version in versions for versions in admitted)
            if fits and self.offers(key, choice.release):
                yield choice

    def hopeless(self, key: str, version: Version, release: Release | None) -> str | None:
        """Why a version is in no solution, whatever stands beside it; None: it may be."""
        return self._hopeless.reason(key, version, release)

    def costs(self, name: str) -> dict[Version, Cost]:
        """The cost of every version that was looked at, refused ones included."""
        self.choices(name)
        return self._costs.get(name, {})

    def refused(self, name: str) -> dict[Version, str]:
        """Versions that can't be chosen, each with the reason in words."""
        self.choices(name)
        return self._refused.get(name, {})

    def unrecorded(self, name: str, specifiers: Iterable[SpecifierSet]) -> Version | None:
        """The version that exact pins ask for and no facts are kept of; None: there is none such.

        Facts do not list every release of every library. One that a framework pins is there, and
        unknown; a framework nobody recorded stays out, since nothing tells what it asks for.
        """
        package = self._problem.graph.packages.get(name)
        if package is None or package.role is Role.FRAMEWORK or name in self._problem.held:
            return None
        asked = list(specifiers)
        pins = {pinned(specifier) for specifier in asked} - {None}
        if len(pins) != 1:
            return None
        (version,) = pins
        if version is None or not all(s.contains(version, prereleases=True) for s in asked):
            return None
        recorded = {Version(r.version.public) for r in self._problem.graph.releases(name)}
        return None if version in recorded else version

    def findings(self, name: str, version: Version) -> list[Finding]:
        """What the piece rules say about this version on all environments."""
        key = (name, version)
        found = self._faults.get(key)
        if found is None:
            package = self._problem.graph.packages.get(name)
            found = []
            if package is not None:
                for environment in self._problem.environments:
                    piece = environment.piece(self._problem.graph, package, version)
                    found += judge_piece(piece, environment.target, self._problem.graph)
            self._faults[key] = found
        return found

    def _find(self, name: str) -> Iterator[Choice]:
        problem = self._problem
        refused = self._refused.setdefault(name, {})
        locked = problem.locked.get(name)
        start = problem.start(name)
        releases = []
        for release in problem.graph.releases(name):
            if not self._eligible(release, locked):
                continue
            reason = self._closed(release, locked)
            if reason is None:
                releases.append(release)
            else:
                refused[release.version] = reason
        if locked is not None and all(r.version != locked for r in releases):
            choice = Choice(version=locked, release=None, cost=Cost(unknown=1))
            yield from self._sorted([choice], refused, name)
            if name in problem.held:
                return
        if name in problem.held:
            releases = [r for r in releases if r.version == locked]
        order = sorted(
            {Version(r.version.public) for r in releases} | ({start} if start else set())
        )
        places = {version: place for place, version in enumerate(order)}
        choices = []
        for release in releases:
            if start is None:
                distance = len(order) - places[Version(release.version.public)]
                price = Cost(unknown=int(not self._known(release)), distance=distance)
            else:
                price = cost(
                    start,
                    release.version,
                    known=self._known(release) or release.version == locked,
                    same_index=release.version.local == start.local,
                    new_index=release.home not in problem.homes.named
                    and release.version.local != start.local,
                    distance=abs(places[Version(release.version.public)] - places.get(start, 0)),
                )
            choices.append(Choice(version=release.version, release=release, cost=price))
        yield from self._sorted(choices, refused, name)

    def _sorted(
        self, choices: list[Choice], refused: dict[Version, str], name: str
    ) -> Iterator[Choice]:
        self._costs.setdefault(name, {}).update({c.version: c.cost for c in choices})
        usual = self._cuda(name, self._problem.locked.get(name))
        for choice in sorted(choices, key=lambda c: (c.cost, self._gap(name, c, usual))):
            faults = self._problem.policy.faults(self.findings(name, choice.version))
            if faults:
                refused[choice.version] = faults[0].message
            else:
                yield choice

    def _gap(self, name: str, choice: Choice, usual: Version | None) -> int:
        """How far a build's CUDA is from the usual one: of equal moves, the nearest comes first."""
        if choice.version.local is None:
            return 0
        own = self._cuda(name, choice.version)
        near = usual or self._cuda(name, Version(choice.version.public))
        if own is None or near is None:
            return 0
        return abs((own.major - near.major) * 100 + own.minor - near.minor)

    def _cuda(self, name: str, version: Version | None) -> Version | None:
        """The CUDA of a release's build for the environments' platforms, where it is known."""
        release = self._problem.graph.release(name, version) if version is not None else None
        return next((w.cuda for w in self._wheels(release).values() if w.cuda is not None), None)

    def _eligible(self, release: Release, locked: Version | None) -> bool:
        """Whether a release may be looked at: its index, its Python, not yanked, no pre-release."""
        if release.version == locked:
            return True
        if release.yanked or release.version.is_prerelease:
            return False
        if release.home != self._index_of(locked) and not self._reaches(release):
            return False
        if release.home is not None and not self._is_built(release):
            return False
        return all(self._runs_on_python(wheel) for wheel in release.wheels)

    def _is_built(self, release: Release) -> bool:
        """Whether a build of PyTorch's indexes is documented for every target that has the package.

        Nobody lists those indexes here; one that no document names for a platform is most likely
        not there, and uv could only refuse it.
        """
        problem = self._problem
        environments = [
            environment
            for environment in problem.environments
            if problem.installs(environment, release.package)
        ]
        return all(
            release.wheel(s.platform) is not None for s in environments or problem.environments
        )

    def _reaches(self, release: Release) -> bool:
        """Whether a release of another index than the package's present one may be looked at."""
        return (
            release.package in self._problem.graph.packages.on_pytorch_indexes
            and release.home in self._problem.homes.open
        )

    def _closed(self, release: Release, locked: Version | None) -> str | None:
        """Why a release can't be taken from its index; None: it can."""
        if release.version == locked:
            return None
        if release.package not in self._problem.graph.packages.on_pytorch_indexes:
            return None
        if release.home is None and self._index_of(locked) is None:
            return None
        return self._problem.homes.closed.get(release.home)

    @staticmethod
    def _index_of(locked: Version | None) -> str | None:
        return locked.local if locked is not None else None

    def _runs_on_python(self, wheel: WheelFact) -> bool:
        if not wheel.requires_python:
            return True
        try:
            return SpecifierSet(wheel.requires_python).contains(self._problem.python)
        except InvalidSpecifier:
            return True

    def _known(self, release: Release) -> bool:
        """Whether it is known what the release runs on, and what it asks for, on every target."""
        package = self._problem.graph.packages.get(release.package)
        if package is None or not package.judged:
            return True
        for environment in self._problem.environments:
            piece = environment.piece(self._problem.graph, package, release.version)
            if piece.wheel is None or piece.wheel.requires is None:
                return False
            if is_unknown(piece, environment.target):
                return False
        return True

    def demands(
        self, key: str, version: Version, release: Release | None
    ) -> tuple[StackRequirement, ...]:
        """What a version asks of others: its metadata, couplings, build versions and files."""
        cached = self._demands.get((key, version))
        if cached is None:
            cached = self._demands[(key, version)] = tuple(self._ask(key, version, release))
        return cached

    def offers(self, key: str, release: Release | None) -> bool:
        """Whether a release has the extra that a key names.

        jax 0.6 has no "cuda13": uv takes it with a warning, and without the GPU's packages. An
        extra that means nothing at the locked version either is no reason against another, unless
        the plan is what brings it in.
        """
        name, bracket, extra = key.partition("[")
        if self._problem.exchange is not None and self._problem.exchange.asks(key) and bracket:
            return self._has(release, extra[:-1])
        locked = self._problem.locked.get(name)
        if not bracket or release is None or release.version == locked or locked is None:
            return True
        before = self._problem.graph.release(name, locked)
        return self._has(release, extra[:-1]) or not self._has(before, extra[:-1])

    def _has(self, release: Release | None, extra: str) -> bool:
        """Whether some requirement of the wheels depends on the extra, as far as anybody read."""
        wheels = self._wheels(release).values()
        lines = [line for wheel in wheels for line in wheel.requires or ()]
        return not lines or any(f'"{extra}"' in line.replace("'", '"') for line in lines)

    def locked_demands(self, name: str, locked: Version) -> tuple[StackRequirement, ...]:
        """What the locked version of a package asks."""
        return self.demands(name, locked, self._problem.graph.release(name, locked))

    def _ask(
        self, key: str, version: Version, release: Release | None
    ) -> Iterator[StackRequirement]:
        problem = self._problem
        wheels = self._wheels(release).values()
        name = key.partition("[")[0]
        origin = f"{name} {version}"
        unmoved = problem.locked.get(name) == version
        for demand in self._stated(key, version, release):
            yield self._tightened(name, demand, wheels)
            # Asked for together with the package, not with one version of it after the other.
            for collision in problem.graph.collisions(demand.name):
                if not collision.versions:
                    yield StackRequirement(
                        _file(collision), SpecifierSet(), origin, demand.name, unmoved
                    )
        if "[" in key:
            return
        for coupling in problem.graph.couplings(name):
            binding = coupling.severity is not FactSeverity.INFO  # else: built from source
            if binding and problem.present(coupling.needs) and coupling.concerns(version):
                admitted = _partners(coupling, version)
                yield StackRequirement(coupling.needs, admitted, origin, None, unmoved)
        for collision in problem.graph.collisions(name):
            if collision.versions.contains(version, prereleases=True):
                yield StackRequirement(_file(collision), SpecifierSet(), origin, name, unmoved)
        if name in problem.graph.packages.on_pytorch_indexes:
            home = version.local or "default"
            yield StackRequirement("index:torch", SpecifierSet(), origin, home, unmoved)
        for platform, major in cuda_majors(problem, name, version, self._wheels(release)):
            yield StackRequirement(f"cuda:{platform}", SpecifierSet(), origin, str(major), unmoved)

    def _stated(
        self, key: str, version: Version, release: Release | None
    ) -> Iterator[StackRequirement]:
        """What metadata says; an extra also asks for the same version of its base."""
        name, _, extra = key.partition("[")
        extra = extra.rstrip("]")
        origin = f"{name} {version}"
        unmoved = self._problem.locked.get(name) == version
        if extra:
            yield StackRequirement(name, SpecifierSet(f"=={version}"), origin, None, unmoved)
        for platform, wheel in self._wheels(release).items():
            for requirement in self._problem.applying(wheel.requires or (), {platform}, extra):
                for demand in StackRequirement.of(requirement, origin, unmoved=unmoved):
                    yield self._relaxed(demand)

    def _relaxed(self, demand: StackRequirement) -> StackRequirement:
        """The demand; an exact pin that may be overridden holds within its major only."""
        if demand.key not in self._problem.relaxed:
            return demand
        major = within_major(demand.specifier)
        return demand if major is None else replace(demand, specifier=major)

    def _wheels(self, release: Release | None) -> dict[str, WheelFact]:
        """The wheels that the environments would install, by platform."""
        if release is None:
            return {}
        found = {}
        for environment in self._problem.environments:
            wheel = release.wheel(environment.platform)
            if wheel is not None:
                found[environment.platform] = wheel
        return found

    def _tightened(
        self, name: str, demand: StackRequirement, wheels: Iterable[WheelFact]
    ) -> StackRequirement:
        """The demand, with the version its maker was built against where metadata says less."""
        package = self._problem.graph.packages.get(demand.name)
        if package is None or package.provides is None:
            return demand
        specifier = demand.specifier
        checked = {c.library for c in self._problem.graph.runtime_checks(name)}
        for wheel in wheels:
            built = wheel.built_against.get(package.provides)
            if built is None or package.provides not in checked:
                continue
            fits = SpecifierSet(f">={built.major}.{built.minor},<{built.major + 1}")
            if not (specifier.is_subset(fits)):
                specifier &= fits
        return replace(demand, specifier=specifier)


def _partners(coupling: Coupling, version: Version) -> SpecifierSet:
    """Which versions of the other package a coupling admits beside `version`; unknown: any."""
    if coupling.relation is Relation.SAME_VERSION:
        return SpecifierSet(f"=={'.'.join(str(part) for part in version.release)}.*")
    return coupling.specifiers or SpecifierSet()


def _file(collision: Collision) -> str:
    """The key of a contested path."""
    return f"file:{collision.path}"
