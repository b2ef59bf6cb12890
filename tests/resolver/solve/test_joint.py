"""Several problems searched as one: the cheapest of all, and a problem only when its turn comes."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement
from packaging.version import Version

from stackfix.solve.candidates import Candidates
from stackfix.solve.cost import FREE, Cost, plus
from stackfix.solve.problem import Problem, VariantSwap
from stackfix.solve.resolve import Solution, complete
from stackfix.solve.search import JointSearch, Search
from stackfix.solve.terms import PackageKey
from tests.resolver.making import graph
from tests.resolver.solve.made_problem import Made, made_problem

OLD, NEW = "sm_70 sm_80 sm_90", "sm_70 sm_80 sm_90 sm_100 sm_120"
VERSIONS = ("1.0.0", "1.0.1", "1.1.0", "2.0.0")
CUDNN = ("9.5.0", "9.8.0")


def swap(price: Cost, *asked: str) -> VariantSwap:
    """These variants in CUDA 13."""
    swaps = {}
    variants = graph().variants
    for text in asked:
        key = PackageKey.of(Requirement(text))[-1]
        variant = variants.get(key.name, key.extra)
        assert variant is not None
        new = variants.group(variant).of(13)
        assert new is not None
        swaps[key] = new
    return VariantSwap(cuda=13, swaps=swaps, price=price)


def releases(major: int) -> st.SearchStrategy[dict[str, Made]]:
    """Releases of a framework that pin a cuDNN of this CUDA major, or none."""
    pins = st.sampled_from([[f"nvidia-cudnn-cu{major}=={v}"] for v in CUDNN] + [[]])
    made = st.builds(
        lambda code, pin: Made(code=code, requires=pin), st.sampled_from([OLD, NEW, NEW]), pins
    )
    return st.dictionaries(st.sampled_from(VERSIONS), made, min_size=1, max_size=4)


@st.composite
def with_variants(draw: st.DrawFn) -> tuple[Problem, Problem]:
    """A project with torch, cupy and a cuDNN of its own, and the same with CUDA 13 asked for."""
    torch = draw(st.one_of(releases(12), releases(13)))
    cupy = {12: draw(releases(12)), 13: draw(releases(13))}
    cudnn = {v: Made(code=draw(st.sampled_from([OLD, NEW, NEW]))) for v in CUDNN}
    asked = ["cupy-cuda12x", *draw(st.sampled_from([[], ["nvidia-cudnn-cu12"]]))]
    problem = made_problem(
        {
            "torch": torch,
            "cupy-cuda12x": cupy[12],
            "cupy-cuda13x": cupy[13],
            "nvidia-cudnn-cu12": cudnn,
            "nvidia-cudnn-cu13": cudnn,
        },
        {
            "torch": draw(st.sampled_from(sorted(torch))),
            "cupy-cuda12x": draw(st.sampled_from(sorted(cupy[12]))),
            "nvidia-cudnn-cu12": draw(st.sampled_from(CUDNN)),
        },
        ["torch", *asked],
    )
    price = Cost(variant=1, library=len(asked) - 1)
    return problem, problem.swapping(swap(price, *asked))


def exhaustive(problem: Problem) -> list[Cost]:
    """The costs of all combinations of one problem, each completed by itself."""
    candidates = Candidates(problem)
    cupy = "cupy-cuda12x" if problem.variant_swap is None else "cupy-cuda13x"
    found = []
    for combination in product(candidates.of("torch"), candidates.of(cupy)):
        chosen: dict[str, Version] = {
            name: candidate.version
            for name, candidate in zip(("torch", cupy), combination, strict=True)
        }
        if isinstance(complete(candidates, chosen), Solution):
            total = problem.variant_swap.price if problem.variant_swap else FREE
            for candidate in combination:
                total = plus(total, candidate.cost)
            found.append(total)
    return found


@settings(max_examples=40, deadline=None)
@given(with_variants())
def test_nothing_is_cheaper_in_either_world(both: tuple[Problem, Problem]) -> None:
    costs = [found.cost for found in JointSearch(both).combinations()]
    assert costs == sorted(costs)
    assert costs == sorted(cost for problem in both for cost in exhaustive(problem))


def test_what_stands_in_starts_at_the_version_that_it_replaces() -> None:
    made = {
        "cupy-cuda12x": {v: Made(code=OLD) for v in VERSIONS},
        "cupy-cuda13x": {v: Made(code=NEW) for v in VERSIONS},
    }
    problem = made_problem(made, {"cupy-cuda12x": "1.0.1"}, ["cupy-cuda12x"])
    swapped = problem.swapping(swap(Cost(variant=1), "cupy-cuda12x"))
    first = next(JointSearch((problem, swapped)).combinations())
    assert first.chosen == {"cupy-cuda13x": Version("1.0.1")}
    assert first.cost == Cost(variant=1)
    assert first.problem is swapped


def test_a_world_that_costs_more_than_a_solution_is_not_searched() -> None:
    torch = {"1.0.0": Made(code=OLD), "1.0.1": Made(code=NEW)}
    cudnn = {"9.8.0": Made(code=NEW)}
    made = {"torch": torch, "nvidia-cudnn-cu12": cudnn, "nvidia-cudnn-cu13": cudnn}
    problem = made_problem(
        made, {"torch": "1.0.1", "nvidia-cudnn-cu12": "9.8.0"}, ["torch", "nvidia-cudnn-cu12"]
    )
    swapped = problem.swapping(swap(Cost(library=1), "nvidia-cudnn-cu12"))
    joint = JointSearch((problem, swapped))
    assert next(joint.combinations()).cost == FREE
    assert joint.tried == 1


def test_what_only_a_swap_meets_with_says_so() -> None:
    made = {
        "cupy-cuda12x": {"1.0.0": Made(code=OLD)},
        "cupy-cuda13x": {"1.0.0": Made(code="sm_75 sm_80 sm_90")},
    }
    problem = made_problem(made, {"cupy-cuda12x": "1.0.0"}, ["cupy-cuda12x"])
    joint = JointSearch((problem, problem.swapping(swap(Cost(variant=1), "cupy-cuda12x"))))
    assert not list(joint.combinations())
    reasons = {exclusion.package: exclusion.reason for exclusion in joint.exclusions}
    assert reasons["cupy-cuda12x"].startswith("cupy-cuda12x 1.0.0 has no code")
    assert reasons["cupy-cuda13x"].startswith(
        "with cupy-cuda13x for cupy-cuda12x: cupy-cuda13x 1.0.0 has no code"
    )


def test_an_extra_that_only_later_releases_have_is_had_at_their_price() -> None:
    plugin = {"1.0.0": Made(code=OLD), "1.1.0": Made(code=NEW), "2.0.0": Made(code=NEW)}
    made = {
        "jax": {
            "1.0.0": Made(requires=['jax-cuda12-plugin==1.0.0; extra == "cuda12"'], code=NEW),
            "1.1.0": Made(requires=['jax-cuda12-plugin==1.1.0; extra == "cuda12"'], code=NEW),
            "2.0.0": Made(
                requires=[
                    'jax-cuda12-plugin==2.0.0; extra == "cuda12"',
                    'jax-cuda13-plugin==2.0.0; extra == "cuda13"',
                ],
                code=NEW,
            ),
        },
        "jax-cuda12-plugin": plugin,
        "jax-cuda13-plugin": plugin,
    }
    locked = {"jax": "1.0.0", "jax-cuda12-plugin": "1.0.0"}
    problem = made_problem(made, locked, ["jax[cuda12]"])
    swapped = problem.swapping(swap(Cost(variant=1), "jax[cuda12]"))
    floor = Search(Candidates(swapped)).floor()
    assert floor == Cost(major=1, variant=1, distance=2)
    joint = JointSearch((problem, swapped))
    first, second, third = joint.combinations()
    assert first.chosen == {"jax": Version("1.1.0")}
    assert (second.problem, third.problem) == (problem, swapped)
    assert third.cost == floor
