"""What a version of a package asks for beside it: what metadata says, and what it leaves unsaid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from stackfix.solve.problem import Problem
from stackfix.solve.specifier import within_major
from stackfix.solve.terms import (
    AnyRequirement,
    Candidate,
    Claim,
    CudaMajor,
    PackageKey,
    SharedFile,
    StackRequirement,
    TorchIndex,
)
from stackfix_knowledge.evidence import FactSeverity
from stackfix_knowledge.stack.couplings import Coupling, Relation
from stackfix_knowledge.stack.loading import LoadTime
from stackfix_knowledge.wheels.release import Release, WheelFact

__all__ = ["Dependencies"]

_TORCH = "torch"


class Dependencies:
    """What the releases of the packages of one problem ask for."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def stated(self, candidate: Candidate) -> Iterator[StackRequirement]:
        """What metadata says; an extra also asks for the same version of its package."""
        problem, key, origin = self._problem, candidate.key, candidate.title
        unmoved = problem.locked.get(key.name) == candidate.version
        if key.extra:
            same = SpecifierSet(f"=={candidate.version}")
            yield StackRequirement(PackageKey(key.name), same, origin, unmoved)
        for platform, wheel in problem.wheels(candidate.release).items():
            for line in problem.applying(wheel.requires or (), {platform}, key.extra):
                for requirement in StackRequirement.of(line, origin, unmoved=unmoved):
                    yield self._relaxed(requirement)

    def all(self, candidate: Candidate) -> Iterator[AnyRequirement]:
        """Metadata, the versions it was built against, couplings, files, index and CUDA major."""
        wheels = self._problem.wheels(candidate.release).values()
        for requirement in self.stated(candidate):
            yield self._tightened(candidate.name, requirement, wheels)
            yield from self._files_of(requirement.name, candidate)
        if candidate.key.extra:
            return
        yield from self._couplings(candidate)
        yield from self._files(candidate)
        if candidate.name in self._problem.graph.packages.on_pytorch_indexes:
            yield Claim(TorchIndex(), candidate.version.local or "default", candidate.title)
        for platform, major in self._cuda_majors(candidate):
            yield Claim(CudaMajor(platform), str(major), candidate.title)

    def offers(self, key: PackageKey, release: Release | None) -> bool:
        """Whether a release has the extra that a key names.

        jax 0.6 has no "cuda13": uv takes it with a warning, and without the GPU's packages. An
        extra that means nothing at the locked version either is no reason against another, unless
        the plan is what brings it in.
        """
        if not key.extra:
            return True
        if key in self._swapped:
            return self._has(release, key.extra)
        locked = self._problem.locked.get(key.name)
        if release is None or locked is None or release.version == locked:
            return True
        before = self._problem.graph.release(key.name, locked)
        return self._has(release, key.extra) or not self._has(before, key.extra)

    @cached_property
    def _swapped(self) -> frozenset[PackageKey]:
        swap = self._problem.variant_swap
        return frozenset() if swap is None else swap.keys

    def _has(self, release: Release | None, extra: str) -> bool:
        """Whether some requirement of the wheels depends on the extra, as far as anybody read."""
        wheels = self._problem.wheels(release).values()
        lines = [line for wheel in wheels for line in wheel.requires or ()]
        return not lines or any(f'"{extra}"' in line.replace("'", '"') for line in lines)

    def _relaxed(self, requirement: StackRequirement) -> StackRequirement:
        """The requirement; an exact pin that may be overridden holds within its major only."""
        if requirement.key.extra or requirement.name not in self._problem.relaxed:
            return requirement
        major = within_major(requirement.specifier)
        return requirement if major is None else replace(requirement, specifier=major)

    def _tightened(
        self, name: str, requirement: StackRequirement, wheels: Iterable[WheelFact]
    ) -> StackRequirement:
        """The requirement, with the version its maker was built against where it says less."""
        package = self._problem.graph.packages.get(requirement.name)
        if package is None or package.provides is None:
            return requirement
        specifier = requirement.specifier
        checked = {c.library for c in self._problem.graph.runtime_checks(name)}
        for wheel in wheels:
            built = wheel.built_against.get(package.provides)
            if built is None or package.provides not in checked:
                continue
            fits = SpecifierSet(f">={built.major}.{built.minor},<{built.major + 1}")
            if not (specifier.is_subset(fits)):
                specifier &= fits
        return replace(requirement, specifier=specifier)

    def _couplings(self, candidate: Candidate) -> Iterator[StackRequirement]:
        """What the package needs by couplings that no metadata states."""
        problem, version = self._problem, candidate.version
        unmoved = problem.locked.get(candidate.name) == version
        for coupling in problem.graph.couplings(candidate.name):
            binding = coupling.severity is not FactSeverity.INFO  # else: built from source
            if binding and problem.present(coupling.needs) and coupling.concerns(version):
                partners, key = _partners(coupling, version), PackageKey(coupling.needs)
                yield StackRequirement(key, partners, candidate.title, unmoved)

    def _files(self, candidate: Candidate) -> Iterator[Claim]:
        """The contested files that this version installs."""
        for collision in self._problem.graph.collisions(candidate.name):
            if collision.versions.contains(candidate.version, prereleases=True):
                yield Claim(SharedFile(collision.path), candidate.name, candidate.title)

    def _files_of(self, name: str, candidate: Candidate) -> Iterator[Claim]:
        """The contested files that every version of a package that is asked for installs.

        They are asked for together with the package, not with one version of it after the other.
        """
        for collision in self._problem.graph.collisions(name):
            if not collision.versions:
                yield Claim(SharedFile(collision.path), name, candidate.title)

    def _cuda_majors(self, candidate: Candidate) -> Iterator[tuple[str, int]]:
        """By platform, the CUDA major that torch brings, or that a package takes from torch.

        SF304 tells which libraries are missing in a stack. That both are builds of one CUDA major
        is asked for beforehand, so that the search does not try every pair. An environment with
        two CUDA runtimes may have the other one from elsewhere, and is left to the rule.
        """
        problem, graph = self._problem, self._problem.graph
        name, version = candidate.name, candidate.version
        stacks = [environment.stack for environment in problem.environments]
        runtimes = max(len(stack.providers("cudart")) for stack in stacks)
        if not problem.present(_TORCH) or runtimes > 1 or graph.alternatives(name, version):
            return
        loading = graph.loading.of(name, version)
        for platform, wheel in problem.wheels(candidate.release).items():
            if name == _TORCH:
                if wheel.cuda is not None:
                    yield platform, wheel.cuda.major
            elif loading.when is not LoadTime.IMPORT:
                yield from ((platform, major) for major in self._coupled_majors(name, version))
            else:
                libraries = (graph.loading.library(soname) for soname in loading.asks(wheel))
                named = {graph.cuda_majors(library) for library in libraries if library}
                builds = {major for majors in named if len(majors) == 1 for major in majors}
                if len(builds) == 1:  # else it takes the one that is there
                    yield platform, builds.pop()

    def _coupled_majors(self, name: str, version: Version) -> set[int]:
        """The CUDA major of the libraries that a coupling ties a package to, and that are there.

        TensorFlow opens the cuDNN of CUDA 12 if it finds one. A move that takes it away meets the
        coupling, and leaves TensorFlow on the CPU.
        """
        needed = {
            coupling.needs
            for coupling in self._problem.graph.couplings(name)
            if coupling.concerns(version) and self._problem.present(coupling.needs)
        }
        packages = (self._problem.graph.packages.get(library) for library in needed)
        majors = {package.cuda_major for package in packages if package is not None} - {None}
        return {major for major in majors if major is not None} if len(majors) == 1 else set()


def _partners(coupling: Coupling, version: Version) -> SpecifierSet:
    """Which versions of the other package a coupling admits beside `version`; unknown: any."""
    if coupling.relation is Relation.SAME_VERSION:
        return SpecifierSet(f"=={'.'.join(str(part) for part in version.release)}.*")
    return coupling.specifiers or SpecifierSet()
