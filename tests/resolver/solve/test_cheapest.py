"""No cheaper combination exists than the one found: compared with trying all of them."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from stackfix.solve.candidates import Candidates
from stackfix.solve.cost import FREE, Cost, plus
from stackfix.solve.problem import Problem
from stackfix.solve.resolve import Solution, complete
from stackfix.solve.search import Search
from tests.resolver.solve.made_problem import Made, made_problem

OLD, NEW = "sm_70 sm_80 sm_90", "sm_70 sm_80 sm_90 sm_100 sm_120"
FRAMEWORKS = ("torch", "tensorflow", "cupy-cuda12x")
VERSIONS = ("1.0.0", "1.0.1", "1.1.0", "2.0.0")
CUDNN = ("9.5.0", "9.8.0", "9.10.0")

pins = st.sampled_from(["==9.5.0", "==9.8.0", "==9.10.0", ">=9.8", ">=9.5", "<9.9"])
made = st.builds(
    lambda code, pin: Made(code=code, requires=[f"nvidia-cudnn-cu12{pin}"]),
    st.sampled_from([OLD, NEW, NEW]),
    pins,
)
releases = st.dictionaries(st.sampled_from(VERSIONS), made, min_size=1, max_size=4)


@st.composite
def with_variants(draw: st.DrawFn) -> Problem:
    names = draw(st.lists(st.sampled_from(FRAMEWORKS), min_size=1, max_size=3, unique=True))
    packages = {name: draw(releases) for name in names}
    cudnn = {v: Made(code=draw(st.sampled_from([OLD, NEW, NEW]))) for v in CUDNN}
    locked = {name: draw(st.sampled_from(sorted(packages[name]))) for name in names}
    return made_problem(
        {**packages, "nvidia-cudnn-cu12": cudnn},
        {**locked, "nvidia-cudnn-cu12": draw(st.sampled_from(CUDNN))},
        names,
    )


def exhaustive(problem: Problem) -> Cost | None:
    """The least cost over all combinations of framework versions, each completed by itself."""
    candidates = Candidates(problem)
    names = [name for name in problem.locked if name in FRAMEWORKS]
    best: Cost | None = None
    for combination in product(*(candidates.of(name) for name in names)):
        chosen: dict[str, Version] = {
            name: candidate.version for name, candidate in zip(names, combination, strict=True)
        }
        if isinstance(complete(candidates, chosen), Solution):
            total = FREE
            for candidate in combination:
                total = plus(total, candidate.cost)
            best = total if best is None or total < best else best
    return best


@settings(max_examples=60, deadline=None)
@given(with_variants())
def test_nothing_is_cheaper_and_nothing_is_overlooked(problem: Problem) -> None:
    found = next(Search(Candidates(problem)).combinations(), None)
    assert (found.cost if found else None) == exhaustive(problem)


@settings(max_examples=50, deadline=None)
@given(with_variants())
def test_solutions_come_in_order_of_cost(problem: Problem) -> None:
    costs = [found.cost for found in Search(Candidates(problem)).combinations()]
    assert costs == sorted(costs)
