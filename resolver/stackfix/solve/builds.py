"""Builds that go together: packages that take CUDA's libraries from torch, and torch itself.

SF304 tells which libraries are missing in a stack. That both are builds of one CUDA major is asked
for beforehand, so that the search does not try every pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packaging.version import Version

from stackfix.solve.problem import Problem
from stackfix_knowledge.stack.loading import LoadTime
from stackfix_knowledge.wheels.release import WheelFact

__all__ = ["cuda_majors"]

_TORCH = "torch"


def cuda_majors(
    problem: Problem, name: str, version: Version, wheels: Mapping[str, WheelFact]
) -> Iterator[tuple[str, int]]:
    """By platform, the CUDA major that torch brings, or that a package takes from torch.

    `wheels` are those of the release, by platform. An environment with two CUDA runtimes may have
    the other one from elsewhere, and is left to the rule.
    """
    graph = problem.graph
    runtimes = max(
        len(environment.stack.providers("cudart")) for environment in problem.environments
    )
    if not problem.present(_TORCH) or runtimes > 1 or graph.alternatives(name, version):
        return
    loading = graph.loading.of(name, version)
    for platform, wheel in wheels.items():
        if name == _TORCH:
            if wheel.cuda is not None:
                yield platform, wheel.cuda.major
        elif loading.when is not LoadTime.IMPORT:
            yield from ((platform, major) for major in _coupled(problem, name, version))
        else:
            libraries = (graph.loading.library(soname) for soname in loading.asks(wheel))
            named = {graph.cuda_majors(library) for library in libraries if library}
            builds = {major for majors in named if len(majors) == 1 for major in majors}
            if len(builds) == 1:  # else it takes the one that is there
                yield platform, builds.pop()


def _coupled(problem: Problem, name: str, version: Version) -> set[int]:
    """The CUDA major of the libraries that a coupling ties a package to, and that are there now.

    TensorFlow opens the cuDNN of CUDA 12 if it finds one. A move that takes it away meets the
    coupling, and leaves TensorFlow on the CPU.
    """
    needed = {
        coupling.needs
        for coupling in problem.graph.couplings(name)
        if coupling.concerns(version) and problem.present(coupling.needs)
    }
    packages = (problem.graph.packages.get(library) for library in needed)
    majors = {package.cuda_major for package in packages if package is not None} - {None}
    return {major for major in majors if major is not None} if len(majors) == 1 else set()
