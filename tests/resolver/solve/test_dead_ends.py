"""Versions that are in no solution are known as such, with the fault at the end of the chain."""

from __future__ import annotations

import time
from dataclasses import replace

from hypothesis import given, settings
from packaging.requirements import Requirement
from packaging.version import Version

from stackfix.solve.candidates import Candidates
from stackfix.solve.problem import Problem
from stackfix.solve.resolve import Solution, complete
from stackfix.solve.search import Search
from stackfix.solve.terms import PackageKey
from tests.resolver.solve.made_problem import Made, made_problem
from tests.resolver.solve.test_cheapest import with_variants

OLD, NEW = "sm_70 sm_80 sm_90", "sm_70 sm_80 sm_90 sm_100 sm_120"


def why(problem: Problem, asked: str, version: str) -> str | None:
    key, candidates = PackageKey.of(Requirement(asked))[-1], Candidates(problem)
    return candidates.dead_end(replace(candidates.at(key.name, Version(version)), key=key))


def chain(end: str) -> Problem:
    """flashinfer needs the DSL, its extra needs a library, and that one runs on these cards."""
    made = {
        "flashinfer-python": {
            "1.0": Made(
                requires=["nvidia-cutlass-dsl>=1", 'nvidia-cutlass-dsl[cu13]>=1; extra == "cu13"'],
                code=NEW,
            )
        },
        "nvidia-cutlass-dsl": {
            v: Made(requires=[f'nvidia-cutlass-dsl-libs-cu13=={v}; extra == "cu13"'], code=NEW)
            for v in ("1.0", "1.1")
        },
        "nvidia-cutlass-dsl-libs-cu13": {"1.0": Made(code=end), "1.1": Made(code=end)},
    }
    return made_problem(made, {"flashinfer-python": "1.0"}, ["flashinfer-python[cu13]"])


def test_the_reason_is_the_fault_at_the_end_of_the_chain() -> None:
    reason = why(chain(OLD), "flashinfer-python[cu13]", "1.0")
    assert reason is not None
    assert reason.startswith("nvidia-cutlass-dsl 1.")
    assert "needs nvidia-cutlass-dsl-libs-cu13==1." in reason
    assert "has no code for compute capability 12.0" in reason


def test_without_the_extra_nothing_is_in_the_way() -> None:
    assert why(chain(OLD), "flashinfer-python", "1.0") is None
    assert why(chain(NEW), "flashinfer-python[cu13]", "1.0") is None


def test_packages_that_need_each_other_are_no_dead_ends() -> None:
    made = {
        "torchvision": {"1.0": Made(requires=["torchaudio"], code=NEW)},
        "torchaudio": {"1.0": Made(requires=["torchvision"], code=NEW)},
    }
    problem = made_problem(made, {"torchvision": "1.0", "torchaudio": "1.0"}, ["torchvision"])
    assert why(problem, "torchvision", "1.0") is None


def test_an_override_counts_in_place_of_a_requirement() -> None:
    made = {
        "torch": {"2.0": Made(requires=["nvidia-cudnn-cu12==9.5"], code=NEW)},
        "nvidia-cudnn-cu12": {"9.5": Made(code=OLD), "9.8": Made(code=NEW)},
    }
    locked = {"torch": "2.0", "nvidia-cudnn-cu12": "9.8"}
    held = made_problem(made, locked, ["torch"], overrides={"nvidia-cudnn-cu12": "==9.8"})
    assert why(held, "torch", "2.0") is None
    assert why(made_problem(made, locked, ["torch"]), "torch", "2.0") is not None


def test_a_hundred_versions_of_two_packages_are_not_multiplied() -> None:
    """Each torch against each companion against each library would be a million steps."""
    versions = [f"1.{minor}" for minor in range(100)]
    made = {
        "torch": {v: Made(code=NEW) for v in versions},
        "flashinfer-python": {v: Made(requires=["nvidia-cutlass-dsl"], code=NEW) for v in versions},
        "nvidia-cutlass-dsl": {
            v: Made(requires=[f"nvidia-cutlass-dsl-libs-cu13=={v}"], code=NEW) for v in versions
        },
        "nvidia-cutlass-dsl-libs-cu13": {v: Made(code=OLD) for v in versions},
    }
    problem = made_problem(
        made, {"torch": "1.5", "flashinfer-python": "1.5"}, ["torch", "flashinfer-python"]
    )
    started = time.process_time()
    search = Search(Candidates(problem))
    assert not list(search.combinations())
    assert time.process_time() - started < 20
    reason = "nvidia-cutlass-dsl-libs-cu13"
    assert any(f.package == "torch" and reason in f.reason for f in search.exclusions)


@settings(max_examples=50, deadline=None)
@given(with_variants())
def test_a_dead_end_is_in_no_solution(problem: Problem) -> None:
    candidates = Candidates(problem)
    for name in Search(candidates).frameworks():
        for candidate in candidates.of(name):
            if candidates.dead_end(candidate) is not None:
                unpruned = Candidates(problem)
                unpruned.dead_end = lambda _: None  # type: ignore[method-assign]
                result = complete(unpruned, {name: candidate.version})
                assert not isinstance(result, Solution)
